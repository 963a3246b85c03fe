"""Asked of the python that will train: what is installed there. Lines of `perfledger`, key and value, tabs between.

It runs wherever the command does, in images of 2019 too: Python 3.6 and later, the standard library alone.
Arguments: device, then the packages that the recipe names.
"""

import importlib
import platform
import re
import sys

NVIDIA = re.compile(r"nvidia-(cuda-runtime|cudnn|nccl)(-cu\d+)?")
SAID_AS = {"cuda-runtime": "cuda", "cudnn": "cudnn", "nccl": "nccl"}


def say(key: str, *values: object) -> None:
    """One line, begun with a line end, since whoever printed before may have left a line open."""
    words = [" ".join(str(value).split()) for value in values]
    if all(words):
        sys.stdout.write("\n" + "\t".join(("perfledger", key, *words)) + "\n")
        sys.stdout.flush()


def installed() -> "dict[str, tuple[str, str]]":
    """Distribution to version, names as pip compares them."""
    try:
        from importlib.metadata import distributions

        found = [(each.metadata["Name"], each.version) for each in distributions()]
    except ImportError:
        working_set = importlib.import_module("pkg_resources").working_set
        found = [(each.project_name, each.version) for each in working_set]
    return {canonical(name): (name, version) for name, version in reversed(found) if name and version}


def canonical(name: str) -> str:
    """Source: PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def of_torch() -> None:
    """CUDA, cuDNN and NCCL as torch states them: what it was built with and loads."""
    torch = importlib.import_module("torch")
    say("cuda", torch.version.cuda or "")
    say("cudnn", dotted(torch.backends.cudnn.version() or 0))
    nccl = importlib.import_module("torch.cuda.nccl").version()
    say("nccl", ".".join(map(str, nccl)) if isinstance(nccl, tuple) else dotted(nccl))


def of_paddle() -> None:
    """The same of paddle, which says `False` where it was built without."""
    version = importlib.import_module("paddle").version
    for key in ("cuda", "cudnn", "nccl"):
        value = getattr(version, key, str)()
        if re.match(r"\d+(\.\d+)+$", str(value)):
            say(key, value)


def dotted(number: int) -> str:
    """8902 is 8.9.2, of cuDNN before 9.0 and NCCL before 2.9; later 90100 is 9.1.0 and 20903 is 2.9.3. Zero is none."""
    thousand = 10000 if number >= 10000 else 1000
    rest = number % thousand
    return f"{number // thousand}.{rest // 100}.{rest % 100}" if number else ""


def of_wheels(found: "dict[str, tuple[str, str]]") -> None:
    """The libraries that came as packages of NVIDIA's."""
    for name, (_, version) in sorted(found.items()):
        wheel = NVIDIA.match(name)
        if wheel and wheel.end() == len(name):
            say(SAID_AS[wheel.group(1)], version)


def main(device: str, *packages: str) -> None:
    """What is known for certain comes first: a framework that cannot be loaded may take this process with it."""
    found = installed()
    say("python", platform.python_version())
    for package in packages:
        if canonical(package) in found:
            say("package", package, found[canonical(package)][1])
        else:
            say("missing", package)
    for name, version in sorted(found.values()):
        say("installed", f"{name}=={version}")
    if device == "gpu":
        wanted = {canonical(package) for package in packages}
        for names, ask in (({"torch"}, of_torch), ({"paddlepaddle", "paddlepaddle-gpu"}, of_paddle)):
            if wanted & names:
                try:
                    ask()
                except Exception as error:  # Whatever it is, the rest is known still.
                    sys.stderr.write(f"{min(names)}: {error}\n")
        of_wheels(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
