# The sampler beside the run, one row a second: telemetry.csv, in which a GPU's rows are nvidia-smi's own.

sample_gpu() {
  exec nvidia-smi "${gpu_choice[@]}" --format=csv -lms 1000 \
    --query-gpu=timestamp,index,name,memory.used,utilization.gpu,power.draw,clocks.sm,clocks.mem,temperature.gpu
}

# Jiffies of all processors since the machine started: fills `busy` and `passed`. Source: proc(5), the line `cpu`.
read_processors() {
  local user nice system idle wait irq softirq stolen
  read -r _ user nice system idle wait irq softirq stolen _ <"$proc/stat" || return
  busy=$((user + nice + system + irq + softirq))
  passed=$((busy + idle + wait + ${stolen:-0}))
}

# Fills `total` and `available`, in KiB.
read_memory() {
  local key value
  while read -r key value _; do
    case $key in
      MemTotal:) total=$value ;;
      MemAvailable:) available=$value && return ;;
    esac
  done <"$proc/meminfo"
  return 1
}

# One row of the processors since the row before. Nothing is started for it: what a sampler takes, the run does not get.
sample_row() {
  local before=$busy then=$passed load total available tenths
  read_processors && read_memory && read -r load _ <"$proc/loadavg" || return
  [ "$passed" -gt "$then" ] || return 0
  tenths=$(((busy - before) * 1000 / (passed - then)))
  [ "$tenths" -ge 0 ] || tenths=0
  printf '%(%Y-%m-%dT%H:%M:%SZ)T,%s,%d.%d,%d,%d\n' -1 "$load" $((tenths / 10)) $((tenths % 10)) \
    $(((total - available) / 1024)) $((total / 1024))
}

sample_processors() {
  local TZ=UTC0 busy passed
  read_processors || return
  printf 'timestamp,load_1m,cpu_percent,memory_used_mib,memory_total_mib\n'
  # The first row comes soon, since a run may be short.
  pause 0.2
  while sample_row && script_lives; do pause 1; done
}

start_sampler() {
  sampler=''
  if [ "$device" = cpu ]; then
    [ -r "$proc/stat" ] || return 0
    sample_processors >"$job/telemetry.csv" 2>/dev/null </dev/null &
  else
    has nvidia-smi || return 0
    sample_gpu >"$job/telemetry.csv" 2>/dev/null </dev/null &
  fi
  sampler=$!
  disown "$sampler"
}

# A row that the end cut off, and a file without a row, say nothing.
stop_sampler() {
  local file=$job/telemetry.csv
  [ -n "$sampler" ] || return 0
  kill -TERM -- "-$sampler" 2>/dev/null
  pause 0.1
  kill -KILL -- "-$sampler" 2>/dev/null
  [ -f "$file" ] || return 0
  [ -z "$(tail -c 1 "$file")" ] || sed -i '$d' "$file"
  [ "$(head -n 2 "$file" | wc -l)" -eq 2 ] || rm -f -- "$file"
}
