# Asking tools, which may be missing, hang, or print without end.

# Where the kernel speaks.
proc=/proc sys=/sys

# What a tool prints, cut to 256 KiB; nothing where it fails.
ask() { timeout -k 2 30 "$@" 2>/dev/null </dev/null | head -c 262144 | LC_ALL=C tr -d '\000\r'; }

has() { command -v -- "$1" >/dev/null; }

# Waits without starting a process, on a pipe into which nobody writes.
exec {never}<> <(:)
pause() { read -rt "$1" -u "$never" || :; }

utc() { TZ=UTC0 date +%Y-%m-%dT%H:%M:%SZ; }

# Fills `centiseconds`, by a clock that nobody sets, as somebody may the wall's: since the machine started.
read_clock() {
  local now
  if read -r now _ 2>/dev/null <"$proc/uptime" && [[ $now =~ ^[0-9]+\.[0-9]{2}$ ]]; then
    centiseconds=$((10#${now/./}))
  else
    now=${EPOCHREALTIME:-$(date +%s.%6N)}
    centiseconds=$((${now/[.,]/} / 10000))
  fi
}

digest() { { sha256sum 2>/dev/null || shasum -a 256; } <"$1" | cut -d ' ' -f 1; }

# Whether the script is there still, as a background part of it sees it: one whose parent was killed has another parent.
# Not kill -0, to which a killed process answers until somebody has asked after it.
script_lives() {
  local parent
  if read -r _ _ _ parent _ 2>/dev/null </proc/self/stat; then
    [ "$parent" = "$$" ]
  else
    kill -0 "$$" 2>/dev/null
  fi
}
