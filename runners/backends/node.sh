# What is asked of a node's job folder, by `action`. The lines put in front of this file set: identity, rank, jobs (the
# folder that holds the node folders of a job), and where they are needed: script, hosts, master_address, master_port,
# signal.
# An answer is lines that begin with `perfledger`: whatever else a login prints is not ours.
# Exit status: 0, 2 refused, 1 it could not be done; why is on standard error.

# All is read before anything is done: a connection that breaks off must not leave half a command behind.
main() {
  job=$jobs/node$rank
  # What a login printed may have left a line open.
  printf '\n'
  "$action"
}

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

introduce() {
  export PERFLEDGER_JOB=$job PERFLEDGER_IDENTITY=$identity PERFLEDGER_NODE_RANK=$rank PERFLEDGER_HOSTS=$hosts
  export PERFLEDGER_MASTER_ADDRESS=$master_address PERFLEDGER_MASTER_PORT=$master_port
}

deliver() {
  local error
  error=$({ mkdir -p -- "$job" && printf '%s' "$script" >"$job/script.sh.partial" &&
    mv -- "$job/script.sh.partial" "$job/script.sh"; } 2>&1) ||
    fail "the job's folder $job cannot be written: ${error##*: }; make room there, or set PERFLEDGER_JOBS to another folder"
}

check() {
  deliver
  examine
}

examine() {
  introduce
  cd -- "$job" && bash "$job/script.sh" check </dev/null >&2 || exit 2
}

# What is said goes to a file, where nobody listens.
fit() {
  (examine) 2>"$job/check.log" && return
  mv -- "$job/check.log" "$job/refused"
  exit 2
}

# In a session of its own, so that it outlives the connection and whoever started it.
begin() {
  introduce
  cd -- "$job" || exit 1
  [ ! -e pid ] || fail "the job in $job has been started before"
  (note_self && exec setsid bash "$job/script.sh" run) </dev/null >host.log 2>&1 &
  # The log is the first thing that the script makes.
  until [ -e train.log ]; do
    kill -0 "$!" 2>/dev/null || [ -e train.log ] || fail "the script did not start: $(last_line host.log)"
    sleep 0.05
  done
  printf 'perfledger begun\n'
}

# Where a scheduler keeps the process.
run() {
  introduce
  cd -- "$job" || exit 1
  (note_self && exec bash "$job/script.sh" run) </dev/null >host.log 2>&1
  [ -e host.json ] || : >gone
}

note_self() { printf '%s\n' "$BASHPID" >pid.partial && mv pid.partial pid; }

# Whether a process belongs to this node of this job: its number alone may have been given away again since.
ours() {
  grep -zqxF "PERFLEDGER_IDENTITY=$identity" "/proc/$1/environ" 2>/dev/null &&
    grep -zqxF "PERFLEDGER_NODE_RANK=$rank" "/proc/$1/environ" 2>/dev/null
}

alive() {
  local process
  read -r process 2>/dev/null <"$job/pid" && [[ $process =~ ^[0-9]+$ ]] && ours "$process"
}

look() {
  local kind=lost
  # The trap: a network file system may not show a new file until its folder is read.
  ls -- "$job" >/dev/null 2>&1
  if [ ! -e "$job/host.json" ] && alive; then kind=running; fi
  # Asked last: it may have ended just now.
  if [ -e "$job/host.json" ]; then kind=ended; fi
  if [ "$kind" = lost ] && elsewhere; then kind=unreachable; fi
  printf 'perfledger kind %s\n' "$kind"
  printf 'perfledger outcome %s\n' "$(sed -n 's/.*"outcome": *"\([a-z]*\)".*/\1/p' "$job/host.json" 2>/dev/null)"
  [ "$kind" != lost ] || printf 'perfledger cause %s\n' "$(cause)"
  [ ! -e "$job/gone" ] || printf 'perfledger gone\n'
  printf 'perfledger bytes %s\n' "$(wc -c 2>/dev/null <"$job/train.log")"
  printf 'perfledger line %s\n' "$(last_line "$job/train.log")"
}

last_line() { tail -c 2000 -- "$1" 2>/dev/null | tr '\r\0' '\n\n' | grep -a '[^[:space:]]' | tail -n 1; }

# Whether the job is of another machine, which shares this folder with us or had it copied from: of what runs there
# nothing is seen here.
elsewhere() {
  local machine
  { read -r _ && read -r machine; } 2>/dev/null <"$job/machine" && ! same_boot && [ "$machine" != "$(uname -n)" ] &&
    printf 'the run was started on another machine; ask there\n' >&2
}

same_boot() {
  local boot
  read -r boot 2>/dev/null <"$job/machine" && [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ]
}

cause() {
  local left
  if [ ! -d "$job" ]; then
    printf 'its folder is not there any more'
    return
  fi
  left=$(df -Pk -- "$job" 2>/dev/null | awk 'NR == 2 {print $4}')
  if [ -e "$job/machine" ] && ! same_boot; then
    printf 'the host was restarted'
  elif [ -n "$left" ] && [ "$left" -lt 64 ]; then
    printf 'there is no space left for what it writes'
  else
    printf 'its script is gone without a word, as if killed%s' "$(said "$job/host.log")"
  fi
}

said() {
  local line
  line=$(last_line "$1")
  # Without the path, which is nobody's business where this is published.
  [ -z "$line" ] || printf '; its last words: %s' "${line//"$job/"/}"
}

left() {
  local process
  for process in /proc/[0-9]*; do
    ! ours "${process#/proc/}" || printf '%s\n' "${process#/proc/}"
  done
}

# Asks the script to end; where it is gone, ends what it left running and what does not end by itself.
finish() {
  if alive; then
    kill -"$signal" "$(cat "$job/pid")"
  else
    sweep
  fi
  printf 'perfledger asked\n'
}

# Once only: the second request kills.
dismiss() { mkdir -- "$job/dismissed" 2>/dev/null && finish; }

sweep() {
  local tool attempt
  for attempt in {1..30}; do
    [ -n "$(left)" ] || break
    sleep 0.1
  done
  left | while read -r process; do kill -KILL "$process" 2>/dev/null; done
  for tool in docker podman; do
    ! command -v "$tool" >/dev/null || "$tool" kill "perfledger-$identity-$rank" >/dev/null 2>&1
  done
}

# Takes back what check has written, where nothing ran.
forget() {
  [ ! -e "$job/pid" ] || exit 1
  rm -f -- "$job/script.sh" "$job/script.sh.partial"
  rmdir -- "$job" "$jobs" 2>/dev/null
}

# Where there is nothing any more, nothing is sent.
send() {
  [ ! -e "$job" ] || cd -- "$job" || exit 1
  printf 'perfledger files\n'
  if [ -e "$job" ]; then tar -cf - --exclude=./output --exclude=./machine .; else tar -cf - -T /dev/null; fi
}
