# What a run came to, from its exit status, its logs and the kernel.

out_of_memory='[Oo]ut [Oo]f [Mm]emory|OutOfMemory|OUT_OF_MEMORY|RESOURCE_EXHAUSTED|ResourceExhaustedError|'
out_of_memory+='CUBLAS_STATUS_ALLOC_FAILED|cudaErrorMemoryAllocation|hipErrorOutOfMemory|std::bad_alloc|'
out_of_memory+='^([A-Za-z_.]*\.)?_?(Array)?MemoryError|an.t allocate memory|annot allocate memory|not enough memory:|'
out_of_memory+='Allocate memory failed|oom.kill event'
# How launchers say that one of their ranks was killed, when they themselves end in good order.
killed='SIGKILL|[Ss]ignal:? 9|exitcode: -9'

# How many processes the kernel has killed for want of memory. Source: proc(5), /proc/vmstat.
kernel_kills() { sed -n 's/^oom_kill \([0-9]*\)$/\1/p' "$proc/vmstat" 2>/dev/null; }

# The trap: of what it then did otherwise TensorFlow says that memory ran out, and that this is not a failure.
ran_out_of_memory() {
  LC_ALL=C grep -ahrE -- "$out_of_memory" "$job/train.log" "$job/ranks" 2>/dev/null | LC_ALL=C grep -avq 'this is not a failure'
}

killed_by_kernel() {
  [ "${kills_before:-none}" != "$(kernel_kills)" ] && [ -n "$kills_before" ] || return
  [ "$status" -eq 137 ] || LC_ALL=C grep -aqrE -- "$killed" "$job/train.log" "$job/ranks" 2>/dev/null
}

# The trap: Paddle's launcher writes the whole environment of the user, secrets and all, beside the logs of its ranks.
keep_logs() {
  local path
  rm -rf -- "$output"
  for path in "$ranks"/paddle/*; do
    [[ ${path##*/} =~ ^(worker|server|trainer)log\.[0-9]+$ ]] || rm -rf -- "$path"
  done
}

name_outcome() {
  if observes; then
    outcome=completed status=0
  elif [ -n "$outcome" ]; then
    return
  elif [ "$status" -eq 0 ]; then
    outcome=completed
  elif ran_out_of_memory || killed_by_kernel; then
    outcome=oom
  else
    outcome=failed
  fi
}

source_commit() { [ -z "$source_folder" ] || (cd "$sources" 2>/dev/null && ask git rev-parse --verify HEAD | grep -xE '[0-9a-f]{40,64}'); }

source_modified() {
  local changes
  [ -n "$(source_commit)" ] || return 0
  # Where git does not say it, it is not known.
  changes=$(set -o pipefail && cd "$sources" && ask git status --porcelain --untracked-files=no) || [ -n "$changes" ] || return 0
  if [ -n "$changes" ]; then printf true; else printf false; fi
}

source_object() {
  local members=()
  text_member commit "$(source_commit)"
  member modified "$(source_modified)"
  json_object
}

# The files of the run, with hash and size. Left aside are logs of ranks that printed nothing there, and names beyond
# letters, digits and a few signs, which are nobody's rank.
files_object() {
  local path members=()
  cd "$job" || return
  shopt -s globstar nullglob
  for path in train.log telemetry.csv environment.json ranks/**; do
    [ -f "$path" ] && [ ! -L "$path" ] && [[ $path != ranks/* || -s $path ]] && [[ $path =~ ^[A-Za-z0-9._/+=,@:-]+$ ]] || continue
    member "$path" "{\"sha256\": \"$(digest "$path")\", \"bytes\": $(($(wc -c <"$path")))}"
  done
  json_object
}

host_object() {
  local members=()
  text_member schema perfledger.host/1
  number_member node_rank "$node_rank"
  text_member start "$start"
  text_member end "$end"
  [ "$wall" -lt 0 ] || member wall_seconds "$(printf '%d.%02d' $((wall / 100)) $((wall % 100)))"
  number_member exit_status "$status"
  text_member outcome "$outcome"
  text_member hardware "$(hardware)"
  member source "$source_found"
  member files "$(files_object)"
  json_object
}
