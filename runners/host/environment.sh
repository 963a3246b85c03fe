# environment.json: machine, GPUs, and what the place where the command runs says of itself.

# In the folder and with the variables of the command. What is started so bears a mark, in whichever session or group it
# is: launchers put their ranks into sessions of their own, and timeout makes a group.
in_place() {
  cd "$working_folder" || return 126
  export PERFLEDGER_COMMAND=$mark
  exec {never}>&-
  # Or a GPU has one number for the command and another for nvidia-smi, where they are not all alike.
  [ "$device" = cpu ] || export CUDA_DEVICE_ORDER=PCI_BUS_ID
  [ "${#variables[@]}" -eq 0 ] || export "${variables[@]}"
  exec "$@"
}

# The lines of inside.sh: key, tab, value. A recipe that is not in Python names no packages, and Python is not asked.
inside_answers() {
  [ "$container" != none ] || [ "${#packages[@]}" -gt 0 ] || return 0
  (in_place timeout -k 5 "$1" "${inside[@]}") 2>/dev/null </dev/null |
    head -c 4194304 | LC_ALL=C tr -d '\000\r' | sed -n $'s/^perfledger\t//p'
}

# answered ANSWERS KEY: all values of a key.
answered() { sed -n "s/^$2"$'\t//p' <<<"$1"; }

packages_fact() {
  local name version members=()
  while IFS=$'\t' read -r name version; do text_member "$name" "$version"; done <<<"$(answered "$1" package)"
  json_object
}

facts() {
  local answers=$1 key members=()
  text_member cpu "$(cpu_model)"
  number_member cores "$(cpu_cores)"
  number_member cpu_sockets "$(cpu_sockets)"
  number_member numa_nodes "$(numa_nodes)"
  text_member cpu_governor "$(cpu_governor)"
  number_member memory_gib "$(memory_gib)"
  gpu_facts
  number_member threads "$threads"
  member load_average_before "$(load_averages)"
  text_member python "$(answered "$answers" python | head -n 1)"
  member packages "$(packages_fact "$answers")"
  # The first that said it: the framework, then the packages of NVIDIA's, then the image.
  for key in cuda cudnn nccl; do text_member "$key" "$(answered "$answers" "$key" | head -n 1)"; done
  text_member container_digest "$(container_digest)"
  text_member infiniband "$(infiniband_summary)"
  text_member os "$(os_name)"
  text_member kernel "$(ask uname -r)"
  json_object
}

# What the tool knows of the image at hand, or what the recipe demanded and the tool therefore ran.
container_digest() {
  [ "$container" != none ] || return 0
  if [ -n "$image_digest" ]; then
    printf '%s' "$image_digest"
  elif [ "$container" != apptainer ]; then
    image_inspect '{{range .RepoDigests}}{{println .}}{{end}}' | sed -n 's/^[^@]*@\(sha256:[0-9a-f]\{64\}\)$/\1/p' | head -n 1
  fi
}

# By the digest where that is known, without the tag, as the command names it.
image_inspect() {
  local reference=$image
  [ -z "$image_digest" ] || reference=$(printf '%s' "$image" | sed 's/:[^:/]*$//')@$image_digest
  ask "$container" image inspect --format "$1" -- "$reference"
}

container_object() {
  local members=()
  [ "$container" != none ] || return 0
  text_member tool "$container"
  text_member image "$image"
  text_member digest "$(container_digest)"
  json_object
}

environment_object() {
  local answers topology members=()
  gpu_rows
  answers=$(inside_answers "$patience_seconds")
  topology=$(gpu_topology)
  text_member schema perfledger.environment/1
  member facts "$(facts "$answers")"
  member gpus "$(gpu_list)"
  text_member topology "$topology"
  member infiniband "$(json_lines "$(infiniband_ports)")"
  member packages_installed "$(json_lines "$(answered "$answers" installed)")"
  member container "$(container_object)"
  json_object
}

hardware() {
  local name
  if [ "$device" = cpu ]; then
    name=$(cpu_model)
    printf '%s%s cores (CPU)' "${name:+$name, }" "$(cpu_cores)"
  else
    gpu_rows
    name=$(gpu_names)
    printf '%s' "${name:-unknown}"
  fi
}
