# `check`: what would make the run fail, or its figures worthless, is said before anything starts.

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

warn() { printf 'warning: %s\n' "$1" >&2; }

check_programs() {
  local program
  for program in "${command[0]}" "${programs[@]}"; do
    (cd "$working_folder" && has "$program") ||
      refuse "the program $program is not on this host; install it or put it on PATH (\`python -m runners show\` says what a recipe needs)"
  done
}

check_container() {
  local said
  [ "$container" != none ] || return 0
  has "$container" || refuse "$container is not on this host; install it, or choose another with --container"
  [ "$container" != apptainer ] || return 0
  said=$(timeout 30 "$container" info 2>&1 </dev/null) ||
    refuse "$container does not work on this host: ${said##*$'\n'}; is its service running, and may you use it?"
  image_is_here || warn "the image $image is not on this host yet; the run begins by pulling it"
}

image_is_here() { [ -n "$(image_inspect '{{.Id}}')" ]; }

# Inside an image it is only asked where that is there already: a check does not pull gigabytes.
check_packages() {
  local answers missing
  [ "${#packages[@]}" -gt 0 ] || return 0
  case $container in
    none) ;;
    apptainer) return 0 ;;
    *) image_is_here || return 0 ;;
  esac
  # Not for the device: what CUDA its framework has is asked when the run begins.
  asked_device=none set_command
  answers=$(inside_answers 120)
  missing=$(answered "$answers" missing | paste -sd ',' - | sed 's/,/, /g')
  [ -z "$missing" ] || refuse "$python lacks packages that this recipe needs: $missing; \`python -m runners show\` says how to install them"
  [ -n "$(answered "$answers" python)" ] || refuse "$python cannot say what packages it has; is it a Python?"
}

check_source() {
  local found
  [ -n "$source_folder" ] || return 0
  [ -d "$sources" ] ||
    refuse "the folder $sources is not on this host; \`python -m runners setup\` fetches the sources, --work says where they are"
  found=$(source_commit)
  [ -z "$found" ] || [ -z "$expected_commit" ] || [[ $found == "$expected_commit"* ]] ||
    warn "the sources in $sources are at commit ${found:0:12}, not at the recipe's ${expected_commit:0:12}"
  [ "$(source_modified)" != true ] || warn "the sources in $sources have been changed since their commit"
}

check_data() { [ -z "$data" ] || [ -e "$data" ] || refuse "the data $data is not on this host; name its place there with --data"; }

check_space() {
  local place free
  for place in "$job" "${TMPDIR:-/tmp}"; do
    [ -w "$place" ] || refuse "the folder $place cannot be written to on this host"
    free=$(df -Pk -- "$place" 2>/dev/null | awk_free)
    [ -z "$free" ] || [ "$free" -ge "$space_needed_kib" ] ||
      refuse "there is no space left on this host: $((free / 1024)) MiB below $place, and a run needs $((space_needed_kib / 1024)); free some"
  done
}

# The fourth column of the second line; a long name of a device does not wrap under -P.
awk_free() {
  local free
  { read -r _ && read -r _ _ _ free _; } || return 0
  [[ ! $free =~ ^[0-9]+$ ]] || printf '%s' "$free"
}

check_gpus() {
  local row
  [ "$device" != cpu ] || return 0
  has nvidia-smi || refuse "this recipe needs a GPU, and nvidia-smi is not on this host"
  gpu_rows
  [ "${#gpu_table[@]}" -ge "$devices_per_node" ] ||
    refuse "this case needs $devices_per_node GPUs per node, and this host shows ${#gpu_table[@]}"
  for row in "${gpu_table[@]:0:devices_per_node}"; do check_gpu "$row"; done
  check_alike
}

# Settings of which a fact holds one for all GPUs: where they differ it holds none, and no comparison would tell.
check_alike() {
  local key values
  for key in name memory_mib power_limit_watts clock_max_sm_mhz clock_max_memory_mhz clock_applications_sm_mhz \
    clock_applications_memory_mhz persistence ecc mig; do
    values=$(gpu_values "$key")
    [[ $values != *' + '* ]] || warn "the GPUs of this host differ in $key: $values"
  done
}

# check_gpu ROW: a GPU that computes for somebody, or holds a tenth of its memory, is not ours to measure on.
check_gpu() {
  local index busy_by use used all
  index=$(gpu_cell "$1" index)
  busy_by=$(ask nvidia-smi -i "$index" --query-compute-apps=pid --format=csv,noheader | grep -c '^[0-9]')
  use=$(gpu_cell "$1" utilisation)
  used=$(gpu_cell "$1" used_mib)
  all=$(gpu_cell "$1" memory_mib)
  [ "$busy_by" -eq 0 ] && [ "$(whole "$use")" -le 10 ] && [ $(($(whole "$used") * 10)) -le "$(whole "$all")" ] && return
  busy "GPU $index is busy: processes on it $busy_by, utilisation ${use:-?} %, memory ${used:-?} of ${all:-?} MiB"
}

whole() { if [[ $1 =~ ^[0-9]{1,15}$ ]]; then printf '%d' "$1"; else printf 0; fi; }

busy() {
  [ "$even_if_busy" = 1 ] || refuse "$1; wait, or measure all the same with --even-if-busy"
  warn "$1"
}

# Over half a second, and not by the load average: that still counts the run before this one.
check_load() {
  local busy passed before earlier share
  read_processors 2>/dev/null && before=$busy && earlier=$passed || return 0
  pause 0.5
  read_processors 2>/dev/null && [ "$passed" -gt "$earlier" ] || return 0
  share=$(((busy - before) * 100 / (passed - earlier)))
  [ "$share" -lt "$idle_percent" ] || warn "the processors of this host are $share % busy before the run: something else computes here"
}

# Only where the command names the port, and on the node whose port it is.
check_port() {
  [ "$uses_port" = 1 ] && [ "$node_rank" = 0 ] || return 0
  # shellcheck disable=SC2016 # the inner bash puts them in
  timeout 3 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$master_address" "$master_port" 2>/dev/null || return 0
  refuse "port $master_port of $master_address is taken, and the ranks were to meet there; end what listens on it, or start again for another port"
}

check() {
  settle
  set_command
  check_space
  check_container
  check_gpus
  check_source
  check_data
  check_programs
  check_packages
  check_port
  check_load
}
