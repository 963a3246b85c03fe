"""`python -m tests.corpus`: fetch the logs that tests read from public repositories into `.corpus/`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tests.corpus import FETCHED, File, files

FORGE = "https://github.com/"


def git(*arguments: str, folder: Path) -> None:
    """Run git in a folder.

    Raises:
        subprocess.CalledProcessError: git failed; its message is in `stderr`.
    """
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)


def fetch(repository: str, wanted: Sequence[File], into: Path, forge: str = FORGE) -> list[str]:
    """Check out the wanted files of one repository; no other file is downloaded.

    Returns:
        A message for each file that differs from `files.csv`.
    """
    messages = []
    with tempfile.TemporaryDirectory(prefix="corpus-") as name:
        clone = Path(name)
        git("clone", "--quiet", "--filter=blob:none", "--no-checkout", f"{forge}{repository}", ".", folder=clone)
        for each in wanted:
            git("checkout", "--quiet", each.commit, "--", each.path, folder=clone)
            target = into / each.file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(clone / each.path, target)
            if not each.is_at(into):
                target.unlink()
                messages.append(f"{repository}: {each.path} at {each.commit} is not the file that tests/corpus knows")
    return messages


def main(into: Path = FETCHED, forge: str = FORGE) -> int:
    """Fetch missing files.

    Returns:
        0 if every file is there, else 1.
    """
    missing: dict[str, list[File]] = defaultdict(list)
    for each in files():
        if not each.is_at(into):
            missing[each.repository].append(each)
    messages = []
    for repository, wanted in missing.items():
        print(f"{repository}: {len(wanted)} files ...", flush=True)
        try:
            messages += fetch(repository, wanted, into, forge)
        except subprocess.CalledProcessError as error:
            cause = (error.stderr.strip().splitlines() or ["git failed"])[-1]
            messages.append(f"{repository}: {cause}; the tests of its {len(wanted)} files will be skipped")
        except FileNotFoundError:
            print("make corpus: git is not installed; install it and try again", file=sys.stderr)
            return 1
    for message in messages:
        print(f"make corpus: {message}", file=sys.stderr)
    present = sum(each.is_at(into) for each in files())
    print(f"{present} of {len(files())} files are in {into}")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
