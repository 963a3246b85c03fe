# `check` refuses or warns; `run` runs. Exit status of `run`: 0 completed, 1 ended otherwise (its outcome is in
# host.json), 2 nothing was started, 3 host.json could not be written, 130 stopped.

space_needed_kib=65536
# What a machine does by itself stays below it: of all its processors together.
idle_percent=10
# For what comes before the command: an image that has to be pulled first takes its time.
patience_seconds=7200
# Set here, so that no variable of the user's is taken for the folder that is removed at the end.
scratch=''

# The node's own values, which the command may name.
# shellcheck disable=SC2034,SC2088 # the command names some of them; the tilde is a text here
settle() {
  job=${PERFLEDGER_JOB:-$PWD}
  node_rank=${PERFLEDGER_NODE_RANK:-0}
  master_address=${PERFLEDGER_MASTER_ADDRESS:-127.0.0.1}
  master_port=${PERFLEDGER_MASTER_PORT:-29500}
  hosts=${PERFLEDGER_HOSTS:-$master_address}
  identity=${PERFLEDGER_IDENTITY:-alone-$$}
  mark=$identity.$node_rank.$$
  host_slots=${hosts//,/:$devices_per_node,}:$devices_per_node
  ranks=$job/ranks
  output=$job/output
  hostfile=$job/hostfile
  [[ $node_rank =~ ^[0-9]+$ ]] || refuse "PERFLEDGER_NODE_RANK is $node_rank, but must be the number of this node, from 0"
  # Without sources, files or a folder of the user's, the command has an empty folder to itself.
  wants_scratch=0
  [ "$work_files" = 0 ] && [ -n "$source_folder$work" ] || wants_scratch=1
  case $work in
    '') work=$HOME/.perfledger/work ;;
    '~/'*) work=$HOME/${work#'~/'} ;;
    /*) ;;
    *) work=$HOME/$work ;;
  esac
  settle_addresses
  asked_device=$device
  sources=$work/$source_folder
  working_folder=${sources%/}
  [ "$wants_scratch" = 0 ] || working_folder=${TMPDIR:-/tmp}
}

# Each host by its address, or by its name where nobody knows one. The trap: many a host knows itself by an address that
# leads nowhere else, 127.0.1.1.
# shellcheck disable=SC2034 # the command names them
settle_addresses() {
  local each found names values=()
  IFS=, read -ra names <<<"$hosts"
  for each in "${names[@]}"; do
    found=$each
    [[ $each =~ ^[0-9.]+$ ]] || found=$(ask getent ahostsv4 "$each" | cut -d ' ' -f 1 | grep -v '^127\.' | head -n 1)
    [ -n "$found" ] || [ "${#values[@]}" -ne "$node_rank" ] ||
      found=$(ask hostname -I | tr ' ' '\n' | grep -E '^[0-9.]+$' | grep -v '^127\.' | head -n 1)
    values+=("${found:-$each}")
  done
  address=${values[node_rank]:-}
  addresses=$(IFS=, && printf '%s' "${values[*]}")
}

# On the other nodes a launcher that starts their ranks itself needs nobody but an observer.
observes() { [ "$every_node" = 0 ] && [ "$node_rank" != 0 ]; }

# For as long as the first node may take and no longer: nobody comes to send home an observer that was forgotten.
observe() {
  timeout_seconds=$((timeout_seconds + patience_seconds))
  command=(sleep "$((timeout_seconds + patience_seconds))")
}

write_hostfile() {
  local each
  IFS=, read -ra each <<<"$hosts"
  printf "%s slots=$devices_per_node\n" "${each[@]}" >"$hostfile"
}

# The scratch folder that the command runs in, with the files of the recipe. Where one node starts the ranks of all, they
# look for it under the same name everywhere, and two nodes on one machine share it.
enter_folder() {
  [ "$wants_scratch" = 1 ] || return 0
  working_folder=${TMPDIR:-/tmp}/perfledger.$identity
  [ "$every_node" = 0 ] || working_folder+=.$node_rank
  mkdir -m 700 -- "$working_folder" 2>/dev/null || is_ours "$working_folder" ||
    refuse "the scratch folder $working_folder cannot be made; set TMPDIR to a folder with space"
  scratch=$working_folder
  (cd "$scratch" && write_files) ||
    refuse "the files of this recipe cannot be written to a scratch folder; set TMPDIR to one with space"
}

is_ours() { [ -d "$1" ] && [ -O "$1" ] && [ ! -L "$1" ]; }

leave_folder() { [ -z "$scratch" ] || rm -rf -- "$scratch"; }

# By which it is told whether this is the machine, and it has run on since: never brought home.
machine() { printf '%s\n%s' "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)" "$(ask uname -n | head -n 1)"; }

# The log is made only where there is none: no run overwrites another's.
claim_job() {
  mkdir -p -- "$ranks" "$output" && put "$job/machine" "$(machine)" && put "$job/pid" $$ && write_hostfile || refuse "$job cannot be written to; is the disk full?"
  (set -o noclobber && : >"$job/train.log") 2>/dev/null || refuse "a run was already started in $job; its log is not overwritten"
}

record_environment() { put "$job/environment.json" "$(environment_object)"; }

# Appending, since a program that opens /dev/stderr anew would otherwise write over what is there.
logged() { in_place "${command[@]}" >>"$job/train.log" 2>&1; }

run_command() {
  kills_before=$(kernel_kills)
  start_sampler
  start=$(utc)
  read_clock
  began=$centiseconds
  [ -n "$outcome" ] || supervise "$timeout_seconds" logged
  # What comes now is short, and the command has ended as it has: a request that comes too late changes nothing.
  trap '' INT TERM HUP USR1 USR2
  read_clock
  wall=$((centiseconds - began))
  end=$(utc)
  stop_sampler
  kill_leftovers
}

run() {
  settle
  trap leave_folder EXIT
  trap 'exit 130' INT TERM HUP
  claim_job
  enter_folder
  set_command
  ! observes || observe
  outcome='' child='' status=143 interrupted='' late='' signal=TERM sampler=''
  trap 'request stopped' INT TERM HUP
  trap 'request timeout' USR1
  trap 'request "$outcome"' USR2
  # Job control gives each background command a process group of its own, which can be ended as a whole.
  set -m
  supervise "$patience_seconds" record_environment
  # Now, for it is what runs: somebody may check out another commit meanwhile.
  source_found=$(source_object)
  run_command
  keep_logs
  [ -z "$late" ] || kill -KILL -- "-$late" 2>/dev/null
  name_outcome
  put "$job/host.json" "$(host_object)" || {
    printf '%s\n' "$job/host.json cannot be written; is the disk full?" >&2
    exit 3
  }
  case $outcome in
    completed) exit 0 ;;
    stopped) exit 130 ;;
    *) exit 1 ;;
  esac
}

case ${1:-run} in
  check) check ;;
  run) run ;;
  *) refuse "${1:-}: say check or run" ;;
esac
