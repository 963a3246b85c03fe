# What the machine says of itself. No names of hosts or users, no serial numbers, no addresses.

cpu_field() { sed -n "s/^$1[[:space:]]*:[[:space:]]*//p" "$proc/cpuinfo" 2>/dev/null | head -n 1; }

# The trap: a virtual machine may say "AMD EPYC" and no more, of one generation as of the next.
cpu_model() {
  local name family
  name=$(cpu_field 'model name')
  [ -n "$name" ] || name=$(LC_ALL=C ask lscpu | sed -n 's/^Model name:[[:space:]]*//p' | head -n 1)
  family=$(cpu_field 'cpu family')
  if [ -n "$name" ] && [ -n "$family" ] && [[ ! $name =~ [0-9] ]]; then
    name="$name (family $family, model $(cpu_field model))"
  fi
  printf '%s' "$name"
}

# Not nproc: it answers with OMP_NUM_THREADS where that is set.
cpu_cores() { getconf _NPROCESSORS_ONLN 2>/dev/null; }

# Of none of something, the kernel did not say how many there are.
counted() { grep -c . | grep -v '^0$'; }

cpu_sockets() { sed -n 's/^physical id[[:space:]]*:[[:space:]]*//p' "$proc/cpuinfo" 2>/dev/null | sort -u | counted; }

numa_nodes() { compgen -G "$sys/devices/system/node/node[0-9]*" | counted; }

cpu_governor() { head -n 1 "$sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" 2>/dev/null; }

memory_gib() {
  local kib tenths
  kib=$(sed -n 's/^MemTotal:[[:space:]]*\([0-9]*\) kB.*/\1/p' "$proc/meminfo" 2>/dev/null)
  [ -n "$kib" ] || return
  tenths=$(((kib * 10 + 524288) / 1048576))
  printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

# shellcheck source=/dev/null
os_name() { (. /etc/os-release 2>/dev/null && printf '%s' "$PRETTY_NAME"); }

load_averages() {
  local one five fifteen
  read -r one five fifteen _ 2>/dev/null <"$proc/loadavg" || return
  [[ "$one$five$fifteen" =~ ^[0-9.]+$ ]] && printf '[%s, %s, %s]' "$one" "$five" "$fifteen"
}

# A line for every port that is up: device, rate, kind of link.
infiniband_ports() {
  local port state rate link
  for port in "$sys"/class/infiniband/*/ports/*/; do
    read -r state 2>/dev/null <"$port/state" && [[ $state == *ACTIVE* ]] || continue
    read -r rate 2>/dev/null <"$port/rate"
    read -r link 2>/dev/null <"$port/link_layer"
    printf '%s: %s, %s\n' "$(basename "$(dirname "$(dirname "$port")")")" "$rate" "$link"
  done
}

# `2 x 100 Gb/sec (4X EDR), InfiniBand`
infiniband_summary() {
  infiniband_ports | sed 's/^[^:]*: //' | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd ';' - | sed 's/;/; /g'
}
