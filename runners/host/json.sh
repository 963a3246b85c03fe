# Text to JSON. What tools print is anything: bytes that are no UTF-8, control bytes, a megabyte on one line.

utf8=$'^([\x01-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|'
utf8+=$'\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})*$'

# The first 64 KiB of a text; where these are not UTF-8, a question mark stands for every byte beyond ASCII.
json_string() {
  local LC_ALL=C text=${1:0:65536}
  [[ $text =~ $utf8 ]] || text=${text//[$'\x80'-$'\xff']/?}
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  text=${text//$'\n'/\\n}
  text=${text//$'\t'/\\t}
  text=${text//[[:cntrl:]]/ }
  printf '"%s"' "$text"
}

# The members of the object in hand. One that is not known is left out.
members=()
member() { [ -z "$2" ] || members+=("$(json_string "$1"): $2"); }
text_member() { [ -z "$2" ] || member "$1" "$(json_string "$2")"; }
number_member() { [[ ! $2 =~ ^(0|[1-9][0-9]{0,17})(\.[0-9]+)?$ ]] || member "$1" "$2"; }

# json_joined OPEN CLOSE ITEM...: nothing where there is no item.
json_joined() {
  local open=$1 close=$2 comma=''
  shift 2
  [ "$#" -gt 0 ] || return 0
  printf '%s' "$open"
  for item in "$@"; do
    printf '%s%s' "$comma" "$item"
    comma=$',\n'
  done
  printf '%s' "$close"
}

json_object() { json_joined '{' '}' "${members[@]}"; }

# The lines of a text as a list of strings.
json_lines() {
  local line lines=()
  while IFS= read -r line; do
    [ -z "$line" ] || lines+=("$(json_string "$line")")
  done <<<"$1"
  json_joined '[' ']' "${lines[@]}"
}

# put FILE TEXT: whole, or not at all. One printf, since only the last of several would say that the disk is full.
put() {
  printf '%s\n' "$2" 2>/dev/null >"$1.partial" && mv -f -- "$1.partial" "$1" && return
  rm -f -- "$1.partial"
  return 1
}
