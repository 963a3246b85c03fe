# Runs where the command will run, inside its container if it has one, and says what only that place knows: lines
# `perfledger`, key and value with tabs between. Whatever else is printed here is not listened to.
# Arguments: container (the tool, or none), device, python, the question to python, packages.

container=$1 device=$2 python=$3 question=$4
shift 4

say() { [ -z "$2" ] || printf '\nperfledger\t%s\t%s\n' "$1" "$2"; }

"$python" -c "$question" "$device" "$@" || say failed "$python"

# Images say in variables what is in them; on a bare machine such a variable may be anybody's.
if [ "$container" != none ] && [ "$device" = gpu ]; then
  say cuda "$CUDA_VERSION"
  say cudnn "${CUDNN_VERSION:-$NV_CUDNN_VERSION}"
  say nccl "${NCCL_VERSION:-$NV_LIBNCCL_PACKAGE_VERSION}"
fi
