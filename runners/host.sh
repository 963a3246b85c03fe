# What runs on the host: bash and the usual core utilities, nothing else of ours.
# The lines put in front of this file set: destination, work_files (0 or 1), write_files, device, timeout_seconds,
# threads, python, packages, variables, command, and the parts of run.json that were known beforehand (json_*).
# Exit status: 0 completed, 1 ended otherwise (its outcome is in run.json), 2 nothing was started, 130 stopped.

out_of_memory='out of memory|OutOfMemory|OUT_OF_MEMORY|RESOURCE_EXHAUSTED|ResourceExhaustedError|CUBLAS_STATUS_ALLOC_FAILED|std::bad_alloc|^MemoryError|an.t allocate memory|annot allocate memory'
grace_seconds=10

refuse() {
  printf 'runners: %s\n' "$1" >&2
  exit 2
}

json_string() {
  local text=$1
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  text=${text//$'\n'/\\n}
  text=${text//$'\t'/\\t}
  text=${text//[[:cntrl:]]/ }
  printf '"%s"' "$text"
}

# A fact that is not known is left out.
text_fact() { [ -z "$2" ] || printf '  "%s": %s,\n' "$1" "$(json_string "$2")"; }
number_fact() { [[ ! $2 =~ ^[0-9]+(\.[0-9]+)?$ ]] || printf '  "%s": %s,\n' "$1" "$2"; }

cpu_field() { sed -n "s/^$1[[:space:]]*:[[:space:]]*//p" "${cpuinfo:-/proc/cpuinfo}" 2>/dev/null | head -n 1; }

# The trap: a virtual machine may say "AMD EPYC" and no more, of one generation as of the next.
cpu_model() {
  local name family
  name=$(cpu_field 'model name')
  [ -n "$name" ] || name=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name:[[:space:]]*//p' | head -n 1)
  family=$(cpu_field 'cpu family')
  if [ -n "$name" ] && [ -n "$family" ] && [[ ! $name =~ [0-9] ]]; then
    name="$name (family $family, model $(cpu_field model))"
  fi
  printf '%s' "$name"
}

# Not nproc: it answers with OMP_NUM_THREADS where that is set.
cpu_cores() { getconf _NPROCESSORS_ONLN 2>/dev/null; }

memory_gib() {
  local kib tenths
  kib=$(sed -n 's/^MemTotal:[[:space:]]*\([0-9]*\) kB.*/\1/p' /proc/meminfo 2>/dev/null)
  [ -n "$kib" ] || return
  tenths=$(((kib * 10 + 524288) / 1048576))
  printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

gpu_query() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits 2>/dev/null; }
gpu_names() { gpu_query name | sort -u | paste -sd '+' - | sed 's/+/ + /g'; }

gpu_facts() {
  command -v nvidia-smi >/dev/null || return
  text_fact gpu "$(gpu_names)"
  number_fact gpus "$(gpu_query name | wc -l | tr -d ' ')"
  number_fact gpu_memory_mib "$(gpu_query memory.total | head -n 1)"
  number_fact gpu_power_limit_watts "$(gpu_query power.limit | head -n 1)"
  text_fact driver "$(gpu_query driver_version | head -n 1)"
  text_fact cuda_driver "$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p' | head -n 1)"
}

load_average() {
  local one five fifteen rest
  read -r one five fifteen rest 2>/dev/null </proc/loadavg || return
  printf '  "load_average_before": [%s, %s, %s],\n' "$one" "$five" "$fifteen"
}

# The interpreter that will train answers for its packages; one that lacks a package starts nothing.
python_facts() {
  [ -n "$python" ] && [ "${#packages[@]}" -gt 0 ] || return 0
  "$python" - "${packages[@]}" <<'PYTHON'
import importlib.metadata, json, platform, sys
found, missing = {}, []
for package in sys.argv[1:]:
    try:
        found[package] = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        missing.append(package)
if missing:
    sys.exit(", ".join(missing))
print('  "python": %s,\n  "packages": %s,' % (json.dumps(platform.python_version()), json.dumps(found)))
PYTHON
}

environment_facts() {
  text_fact cpu "$(cpu_model)"
  number_fact cores "$(cpu_cores)"
  number_fact memory_gib "$(memory_gib)"
  gpu_facts
  number_fact threads "$threads"
  load_average
  [ -z "$python_json" ] || printf '%s\n' "$python_json"
  text_fact os "$(. /etc/os-release 2>/dev/null && printf '%s' "$PRETTY_NAME")"
  printf '  "kernel": %s\n' "$(json_string "$(uname -r)")"
}

hardware() {
  if [ "$device" = cpu ]; then
    local model
    model=$(cpu_model)
    printf '%s%s cores (CPU)' "${model:+$model, }" "$(cpu_cores)"
  else
    local names
    names=$(gpu_names)
    printf '%s' "${names:-unknown}"
  fi
}

utc() { date -u +%Y-%m-%dT%H:%M:%SZ; }

microseconds() {
  local now=${EPOCHREALTIME:-$(date +%s.%6N)}
  printf '%s' "${now/[.,]/}"
}

digest() { { sha256sum 2>/dev/null || shasum -a 256; } <"$1" | cut -d ' ' -f 1; }

# The first request ends the command's process group; the second, which comes by itself after a while, kills it.
request() {
  interrupted=1
  outcome=${outcome:-$1}
  [ -n "$child" ] || return
  kill -"$signal" -- "-$child" 2>/dev/null
  signal=KILL
  [ -z "$late" ] || return
  kill_later &
  late=$!
  disown "$late"
}

kill_later() {
  sleep "$grace_seconds"
  kill -USR2 $$ 2>/dev/null
}

watch_time() {
  sleep "$timeout_seconds"
  kill -USR1 $$ 2>/dev/null
}

start_command() {
  cd "$work" || exit 126
  [ "${#variables[@]}" -eq 0 ] || export "${variables[@]}"
  exec "${command[@]}"
}

# A wait that a trap broke off has not seen the end of the command, and one after the end knows nothing of it.
await_command() {
  local answer
  while :; do
    interrupted=
    wait "$child" 2>/dev/null
    answer=$?
    [ "$answer" -eq 127 ] && [ -n "$status" ] || status=$answer
    [ -n "$interrupted" ] || break
  done
}

name_outcome() {
  if [ -n "$outcome" ]; then return; fi
  if [ "$status" -eq 0 ]; then
    outcome=completed
  elif grep -aqE "$out_of_memory" "$folder/train.log"; then
    outcome=oom
  else
    outcome=failed
  fi
}

write_run() {
  {
    printf '{\n%s\n' "$json_head"
    printf ' "case": {\n%s\n  "hardware": %s\n },\n' "$json_case" "$(json_string "$hardware")"
    printf '%s\n "environment": {\n%s\n },\n' "$json_plan" "$environment"
    printf ' "start": "%s",\n "end": "%s",\n' "$start" "$end"
    printf ' "wall_seconds": %d.%03d,\n' $((wall / 1000000)) $((wall % 1000000 / 1000))
    printf ' "exit_status": %d,\n "outcome": "%s",\n' "$status" "$outcome"
    printf ' "files": {"train.log": {"sha256": "%s", "bytes": %d}}\n}\n' \
      "$(digest "$folder/train.log")" "$(wc -c <"$folder/train.log")"
  } >"$folder/run.json.partial" && mv "$folder/run.json.partial" "$folder/run.json"
}

prepare() {
  work=$PWD
  if [ "$work_files" = 1 ]; then
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/perfledger.XXXXXX") || refuse "no scratch folder can be made; set TMPDIR to a folder with space"
    trap 'rm -rf "$scratch"' EXIT
    work=$scratch
    (cd "$work" && write_files) || refuse "the files of this recipe cannot be written to a scratch folder; set TMPDIR to one with space"
  fi
  (cd "$work" && command -v -- "${command[0]}" >/dev/null) ||
    refuse "the command ${command[0]} is not on this host; install it or put it on PATH (\`python -m runners show\` says what a recipe needs)"
  python_json=$(python_facts 2>&1) ||
    refuse "$python cannot give the packages this recipe needs: ${python_json##*$'\n'}; \`python -m runners show\` says how to install them"
  environment=$(environment_facts)
  hardware=$(hardware)
}

claim_folder() {
  { mkdir -p "${destination%/*}" && mkdir "$destination"; } 2>/dev/null ||
    refuse "$destination cannot be made: it is there already, or its parent is not a folder you may write to; name another with --raw-logs"
  folder=$(cd "$destination" && pwd)
}

main() {
  trap 'exit 130' INT TERM HUP
  prepare
  claim_folder
  outcome='' child='' status='' interrupted='' late='' signal=TERM
  trap 'request stopped' INT TERM HUP
  trap 'request timeout' USR1
  trap 'request "$outcome"' USR2
  start=$(utc)
  local began
  began=$(microseconds)
  # Job control gives each background command a process group of its own, which can be ended as a whole.
  set -m
  start_command >"$folder/train.log" 2>&1 </dev/null &
  child=$!
  watch_time &
  local watch=$!
  # Bash announces the end of a job that is killed, unless it is no longer on its list.
  disown "$watch"
  [ -z "$outcome" ] || request "$outcome"
  await_command
  wall=$(($(microseconds) - began))
  end=$(utc)
  kill -KILL -- "-$child" "-$watch" ${late:+"-$late"} 2>/dev/null
  name_outcome
  write_run || refuse "$destination/run.json cannot be written; is the disk full?"
  printf '%s: %s (exit status %d, %d.%d s)\n' "$destination" "$outcome" "$status" $((wall / 1000000)) $((wall % 1000000 / 100000))
  case $outcome in
    completed) exit 0 ;;
    stopped) exit 130 ;;
    *) exit 1 ;;
  esac
}

main
