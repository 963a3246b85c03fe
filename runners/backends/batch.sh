# The batch script of a Slurm job. The lines put in front of this file set: jobs, nodes, every_node (1, or 0 where the
# launcher starts the other nodes by itself from the first). `node.sh` beside the node folders does the work on each.

# The traps: srun ends the other tasks some time after the first where the cluster says so, and binds a lone task to
# one core.
step() { srun --overlap --export=ALL --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=0 --wait=0 "$@" </dev/null; }
everywhere() { step --nodes="$nodes" --ntasks="$nodes" bash "$jobs/node.sh" "$@"; }
others() { step --relative=1 --nodes=$((nodes - 1)) --ntasks=$((nodes - 1)) bash "$jobs/node.sh" "$@"; }

# A wait that a trap broke off has not seen the end.
await() {
  while kill -0 "$1" 2>/dev/null; do wait "$1"; done
}

run_everywhere() {
  everywhere run &
  await "$!"
}

run_first() {
  bash "$jobs/node.sh" run &
  local first=$! observers
  if [ "$nodes" -gt 1 ]; then
    others run &
    observers=$!
  fi
  await "$first"
  if [ "$nodes" -gt 1 ]; then
    others dismiss
    await "$observers"
  fi
}

# By the address that Slurm itself reaches the first node at: not every cluster gives its names to a name server.
address() { scontrol --oneliner show node "$1" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p'; }

hosts=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | paste -s -d , -)
master_address=$(address "${hosts%%,*}")
export PERFLEDGER_HOSTS=$hosts PERFLEDGER_MASTER_ADDRESS=${master_address:-${hosts%%,*}}
asked=
trap 'asked=1; everywhere finish TERM' TERM
trap 'asked=1; everywhere finish USR1' USR1
everywhere fit || exit 2
# Asked before anything ran.
[ -z "$asked" ] || { : >"$jobs/stopped" && exit 130; }
if [ "$every_node" = 1 ]; then run_everywhere; else run_first; fi
