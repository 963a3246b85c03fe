# What nvidia-smi says of the GPUs: one row of cells each. Source of the fields: `nvidia-smi --help-query-gpu`.

gpu_fields=(index name memory.total driver_version power.limit power.default_limit persistence_mode ecc.mode.current
  clocks.sm clocks.mem clocks.max.sm clocks.max.mem clocks.applications.gr clocks.applications.mem
  pcie.link.gen.current pcie.link.width.current utilization.gpu memory.used mig.mode.current)
gpu_keys=(index name memory_mib driver power_limit_watts power_limit_default_watts persistence ecc
  clock_sm_mhz clock_memory_mhz clock_max_sm_mhz clock_max_memory_mhz clock_applications_sm_mhz clock_applications_memory_mhz
  pcie_generation pcie_width utilisation used_mib mig)
# Of these, what belongs into the list of GPUs: the rest says how they are at this moment, or is the same for all.
gpu_listed='^(index|name|memory_mib|power_.*|persistence|ecc|mig|clock_.*|pcie_.*)$'

# The GPUs that this job was given, where a scheduler says which.
gpu_choice=()
[ -z "$CUDA_VISIBLE_DEVICES" ] || gpu_choice=(-i "$CUDA_VISIBLE_DEVICES")

# gpu_rows: fills gpu_table with one row per GPU. A driver that does not know a field refuses all of them, and names it.
gpu_rows() {
  local row answer
  gpu_table=()
  has nvidia-smi || return 0
  until answer=$(gpu_query); do
    forget_field "$(sed -n 's/^Field "\([^"]*\)" is not a valid field.*/\1/p' <<<"$answer" | head -n 1)" || return 0
  done
  while IFS= read -r row; do
    [ "$(gpu_cell "$row" index)" = '' ] || gpu_table+=("$row")
  done <<<"$answer"
}

gpu_query() {
  set -o pipefail
  ask nvidia-smi "${gpu_choice[@]}" --query-gpu="$(IFS=,; printf '%s' "${gpu_fields[*]}")" --format=csv,noheader,nounits
}

# forget_field NAME: leaves it out of the question, or all but the first four where it is none of it; fails when no more
# is left to leave out.
forget_field() {
  local position
  for position in "${!gpu_fields[@]}"; do
    [ "${gpu_fields[position]}" = "$1" ] || continue
    unset "gpu_fields[position]" "gpu_keys[position]"
    gpu_fields=("${gpu_fields[@]}") gpu_keys=("${gpu_keys[@]}")
    return 0
  done
  [ "${#gpu_fields[@]}" -gt 4 ] || return
  gpu_fields=("${gpu_fields[@]:0:4}") gpu_keys=("${gpu_keys[@]:0:4}")
}

# gpu_cell ROW KEY: nothing where the driver does not know, for which it has many words, all in brackets.
gpu_cell() {
  local cells cell position
  IFS=, read -ra cells <<<"$1"
  [[ ${cells[0]} =~ ^[0-9]+$ ]] || return 0
  for position in "${!gpu_keys[@]}"; do
    [ "${gpu_keys[position]}" = "$2" ] || continue
    cell=${cells[position]# }
    [[ $cell == '['* || $cell == N/A ]] || printf '%s' "$cell"
  done
}

# The different values of a key over all GPUs, joined by ` + `.
gpu_values() {
  local row
  for row in "${gpu_table[@]}"; do
    gpu_cell "$row" "$1"
    printf '\n'
  done | grep . | sort -u | paste -sd '+' - | sed 's/+/ + /g'
}

# Of a GPU that MIG divides, what runs sees a part: it is no such GPU.
gpu_names() {
  local names
  names=$(gpu_values name)
  [[ $(gpu_values mig) != *Enabled* ]] || names+=' (MIG)'
  printf '%s' "$names"
}

gpu_facts() {
  local key
  [ "${#gpu_table[@]}" -gt 0 ] || return 0
  text_member gpu "$(gpu_names)"
  number_member gpus "${#gpu_table[@]}"
  # A number is a fact of the machine only where all its GPUs agree; two joined by ` + ` are none.
  for key in memory_mib power_limit_watts clock_max_sm_mhz clock_max_memory_mhz clock_applications_sm_mhz \
    clock_applications_memory_mhz; do
    number_member "gpu_$key" "$(gpu_values "$key")"
  done
  text_member gpu_persistence "$(gpu_values persistence)"
  text_member gpu_ecc "$(gpu_values ecc)"
  text_member driver "$(gpu_values driver)"
  text_member cuda_driver "$(ask nvidia-smi | sed -n 's/.*CUDA \(UMD \)*Version: *\([0-9.]*\).*/\2/p' | head -n 1)"
}

gpu_object() {
  local key value members=()
  for key in "${gpu_keys[@]}"; do
    [[ $key =~ $gpu_listed ]] || continue
    value=$(gpu_cell "$1" "$key")
    if [[ $key =~ ^(name|persistence|ecc|mig)$ ]]; then text_member "$key" "$value"; else number_member "$key" "$value"; fi
  done
  json_object
}

gpu_list() {
  local row objects=()
  for row in "${gpu_table[@]}"; do objects+=("$(gpu_object "$row")"); done
  json_joined '[' ']' "${objects[@]}"
}

# The heading is underlined, on a terminal or not.
gpu_topology() {
  has nvidia-smi || return 0
  ask nvidia-smi topo -m | sed $'s/\e\\[[0-9;]*m//g'
}
