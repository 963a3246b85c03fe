# The command as a process group of its own: how it starts, how it is asked to end, and that nothing stays behind.

grace_seconds=10

leftovers() { grep -lzxF -- "PERFLEDGER_COMMAND=$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3; }

# Several times, since one that is being killed may have a child that was not there when it was looked for.
kill_leftovers() {
  local attempt process
  [ "${#ending[@]}" -eq 0 ] || timeout -k 2 30 "${ending[@]}" >/dev/null 2>&1 </dev/null
  for attempt in 1 2 3; do
    leftovers | while read -r process; do kill -KILL "$process" 2>/dev/null; done
    [ -n "$(leftovers)" ] || return 0
    pause "0.$attempt"
  done
}

# request OUTCOME: the first ends the process group in hand; the second, which comes by itself after a while, kills it.
# Bash announces a job that was killed as soon as it starts anything else, hence the 2>/dev/null.
request() {
  interrupted=1
  outcome=${outcome:-$1}
  [ -n "$child" ] || return
  kill "-$signal" -- "-$child" 2>/dev/null
  [ "$signal" != KILL ] || kill_leftovers
  signal=KILL
  [ -z "$late" ] || return
  kill_later &
  late=$!
  disown "$late"
} 2>/dev/null

kill_later() {
  pause "$grace_seconds"
  kill -USR2 $$ 2>/dev/null
}

# Ends a run that lasts too long, and all of one whose script was killed: nobody else would.
guard() {
  local centiseconds end
  read_clock
  end=$((centiseconds + $1 * 100))
  while script_lives; do
    pause 1
    read_clock
    [ "$centiseconds" -lt "$end" ] || { kill -USR1 $$ 2>/dev/null && end=$((end + 100000000000)); }
  done
  kill -KILL -- "-$child" ${sampler:+"-$sampler"} 2>/dev/null
  kill_leftovers
  keep_logs
  leave_folder
}

# supervise SECONDS COMMAND...: runs it as a group of its own until it ends; fills `status`.
supervise() {
  local seconds=$1 guarding
  shift
  "$@" </dev/null &
  child=$!
  guard "$seconds" &
  guarding=$!
  # Bash announces the end of a job that is killed, unless it is no longer on its list.
  disown "$guarding"
  [ -z "$outcome" ] || request "$outcome"
  await
  kill -KILL -- "-$child" "-$guarding" 2>/dev/null
  child=''
}

# A wait that a trap broke off has not seen the end of the command, and one after the end knows nothing of it. With job
# control a wait returns for a command that was only halted, too, which may go on yet.
await() {
  local answer
  status=''
  while :; do
    interrupted=
    wait "$child" 2>/dev/null
    answer=$?
    [ "$answer" -eq 127 ] && [ -n "$status" ] || status=$answer
    [ -n "$interrupted" ] || { kill -0 "$child" 2>/dev/null && pause 0.2; } || break
  done
}
