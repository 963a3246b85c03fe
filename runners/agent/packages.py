"""Report the packages and libraries of the Python that trains.

That Python gets the text of this file alone, by `python -c TEXT DEVICE CONTAINED PACKAGE...`, inside the container if
there is one. So this module imports nothing of the agent.
"""

import importlib
import json
import os
import re
import sys

# The same as in tools.py.
MARK = "perfledger "
NVIDIA_WHEEL = re.compile(r"nvidia-(cuda-runtime|cudnn|nccl)(?:-cu\d+)?$")
# Variables of images that state versions. Trusted in containers only: on a bare machine anybody may set them.
IMAGE_VARIABLES = {
    "cuda": ("CUDA_VERSION",),
    "cudnn": ("CUDNN_VERSION", "NV_CUDNN_VERSION"),
    "nccl": ("NCCL_VERSION", "NV_LIBNCCL_PACKAGE_VERSION"),
}


def installed(device: str, contained: str, *packages: str) -> None:
    """Report what is installed in this Python. If answers repeat a key, the last one counts.

    Frameworks are imported last, because a broken one may crash this process.
    """
    found = distributions()
    versions = {name: found[canonical(name)][1] for name in packages if canonical(name) in found}
    report(
        python=sys.version.split()[0],
        packages=versions,
        missing=[name for name in packages if name not in versions],
        installed=[f"{name}=={version}" for name, version in sorted(found.values())],
    )
    if device != "gpu":
        return
    if contained == "yes":
        image = {key: [os.environ.get(name) for name in names] for key, names in IMAGE_VARIABLES.items()}
        report(**{key: next(filter(None, values), "") for key, values in image.items()})
    wheels = {NVIDIA_WHEEL.match(name): version for name, (_, version) in found.items()}
    report(**{wheel.group(1).replace("cuda-runtime", "cuda"): version for wheel, version in wheels.items() if wheel})
    wanted = {canonical(name) for name in packages}
    for names, libraries in (({"torch"}, torch_libraries), ({"paddlepaddle", "paddlepaddle-gpu"}, paddle_libraries)):
        if wanted & names:
            try:
                libraries()
            except Exception as error:  # Whatever it is, the rest is known still.
                sys.stderr.write(f"{min(names)}: {error}\n")


def report(**found: "str | list[str] | dict[str, str] | None") -> None:
    """Print the known ones of these facts, as an answer on lines of its own."""
    known = {key: value for key, value in found.items() if value not in (None, "", [], {})}
    text = f"\n{MARK}{json.dumps(known, ensure_ascii=False)}\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.flush()


def distributions() -> "dict[str, tuple[str, str]]":
    """Return name and version of every installed distribution, by normalised name."""
    try:
        from importlib.metadata import distributions as metadata

        found = [(each.metadata["Name"], each.version) for each in metadata()]
    except ImportError:  # before Python 3.8
        working_set = importlib.import_module("pkg_resources").working_set
        found = [(each.project_name, each.version) for each in working_set]
    return {canonical(name): (name, version) for name, version in reversed(found) if name and version}


def canonical(name: str) -> str:
    """Normalise the name of a package. Source: PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def torch_libraries() -> None:
    """Report CUDA, cuDNN and NCCL as torch states them."""
    torch = importlib.import_module("torch")
    report(cuda=torch.version.cuda)
    report(cudnn=dotted(torch.backends.cudnn.version() or 0))
    nccl = importlib.import_module("torch.cuda.nccl").version()
    report(nccl=".".join(map(str, nccl)) if isinstance(nccl, tuple) else dotted(nccl))


def paddle_libraries() -> None:
    """Report the same for paddle, which states `False` for a missing library."""
    version = importlib.import_module("paddle").version
    for key in IMAGE_VARIABLES:
        value = str(getattr(version, key, str)())
        if re.match(r"\d+(\.\d+)+$", value):
            report(**{key: value})


def dotted(number: int) -> str:
    """Format a version number: 8902 is 8.9.2 (cuDNN before 9.0, NCCL before 2.9), later 90100 is 9.1.0; empty for 0."""
    thousand = 10000 if number >= 10000 else 1000
    rest = number % thousand
    return f"{number // thousand}.{rest // 100}.{rest % 100}" if number else ""


if __name__ == "__main__":
    installed(*sys.argv[1:])
