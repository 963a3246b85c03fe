"""The files around the code: README, locks, workflows, and texts that must not name a machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
READMES = ["README.md", "README.zh.md"]
LOCKS = ["audit.txt", "build.txt", "generator.txt", "site.txt", "test.txt"]
PIN = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[\w.]+)(?: ; [^\\\n]+)? \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"
)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def tracked() -> list[str]:
    """Return the paths that git tracks, or skip the test in a copy without a history."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode:
        pytest.skip("no git checkout")
    names = [name for name in listing.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    assert names, "git keeps no file here"
    return names


def pins(lock: str) -> dict[str, str]:
    return {match["name"]: match["version"] for match in PIN.finditer(read(f"requirements/{lock}"))}


def canonical(requirement: str) -> str:
    """Return the name of a requirement in the spelling of lock files."""
    name = re.match(r"[\w.-]+", requirement)
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_versions_and_hashes_and_no_addresses(lock: str) -> None:
    text = read(f"requirements/{lock}")
    assert PIN.search(text), f"{lock} pins nothing"
    assert PIN.sub("", text).strip() == ""
    assert len(pins(lock)) == len(PIN.findall(text)), f"{lock} pins a name twice"


def test_the_locks_agree_and_contain_the_requirements_of_pyproject() -> None:
    project = tomllib.loads(read("pyproject.toml"))
    assert pins("site.txt").items() <= pins("test.txt").items()
    for requirement in project["project"]["dependencies"]:
        assert canonical(requirement) in pins("site.txt"), f"{requirement}: run `make lock`"
    for group in ("test", "audit", "generator"):
        for requirement in project["dependency-groups"][group]:
            assert canonical(requirement) in pins(f"{group}.txt"), f"{requirement}: run `make lock`"
    # Both are installed into one environment.
    for lock, other in (("audit.txt", "test.txt"), ("generator.txt", "site.txt")):
        assert [name for name, at in pins(lock).items() if pins(other).get(name, at) != at] == []


def test_supported_pythons_are_stated_once() -> None:
    """Workflows that build with one Python use the same tested version."""
    names = [*READMES, "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", ".ci/run"]
    version = re.compile(r"\b3\.1\d\b")
    assert [name for name in names if version.search(read(name))] == []
    assert len(used := {each for name in workflows() for each in version.findall(read(name))}) == 1
    assert used <= set(supported_pythons())


def supported_pythons() -> list[str]:
    found = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', read("pyproject.toml"))
    assert found
    return found


def test_make_reads_the_supported_pythons() -> None:
    listed = json.loads(subprocess.run(["make", "-s", "pythons"], cwd=ROOT, capture_output=True, check=True).stdout)
    assert listed == supported_pythons()


def workflows() -> list[str]:
    found = sorted(str(path.relative_to(ROOT)) for path in (ROOT / ".github/workflows").glob("*.yml"))
    assert found, "no workflow"
    return found


@pytest.mark.parametrize("workflow", workflows())
def test_actions_are_pinned_by_commit(workflow: str) -> None:
    uses = re.findall(r"^\s*(?:- )?uses: (?!\./)(.*)$", read(workflow), re.MULTILINE)
    assert uses
    assert [action for action in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", action)] == []


@pytest.mark.parametrize("workflow", workflows())
def test_workflows_have_minimal_permissions(workflow: str) -> None:
    content = yaml.safe_load(read(workflow))
    assert content["permissions"] == {"contents": "read"}
    granted = {name: job.get("permissions", {}) for name, job in content["jobs"].items()}
    writing = {name for name, rights in granted.items() if "write" in rights.values()}
    assert writing <= {"deploy", "attest"}, "only the jobs that publish and sign may write"


@pytest.mark.parametrize("workflow", workflows())
def test_jobs_with_a_token_that_may_write_run_no_code_of_the_repository(workflow: str) -> None:
    """Code of a pull request or a dependency must not reach the jobs that sign and publish."""
    for name, job in yaml.safe_load(read(workflow))["jobs"].items():
        if "write" in job.get("permissions", {}).values():
            assert not [step for step in job["steps"] if "run" in step or "checkout" in step["uses"]], name
        assert "secrets" not in json.dumps(job), name
    assert "pull_request_target" not in read(workflow)


@pytest.mark.parametrize("workflow", [*workflows(), "action.yml"])
def test_texts_of_events_are_not_part_of_commands(workflow: str) -> None:
    """A branch or title of a pull request reaches a command only in a variable, which the shell does not parse."""
    content = yaml.safe_load(read(workflow))
    steps = [step for job in content.get("jobs", {"": content.get("runs")}).values() for step in job["steps"]]
    found = {each for step in steps for each in re.findall(r"\$\{\{ *(\w+)", step.get("run", ""))}
    assert found <= {"matrix"}


def test_the_map_of_folders_is_the_tree() -> None:
    shown = re.findall(r"^(\w+)/ ", read("CONTRIBUTING.md"), re.MULTILINE)
    folders = {name.partition("/")[0] for name in tracked() if "/" in name and not name.startswith(".")}
    assert sorted(shown) == sorted(folders)


GUIDES = [path for name in ("guide", "contributing") for path in sorted((ROOT / "docs" / name).glob("*.md"))]
PAGES = [
    *READMES,
    "CONTRIBUTING.md",
    "runners/README.md",
    "tests/README.md",
    *(str(path.relative_to(ROOT)) for path in GUIDES),
]


def test_documents_for_newcomers_are_short() -> None:
    assert max(len(read(each).splitlines()) for each in [*READMES, "runners/README.md"]) <= 120
    assert len(read("CONTRIBUTING.md").splitlines()) <= 100


@pytest.mark.parametrize("readme", READMES)
def test_the_readme_shows_the_real_output_of_its_command(readme: str) -> None:
    shown = re.search(r"```\n\$ perfledger (.*)\n((?:.*\n)+?)```", read(readme))
    assert shown
    command = [sys.executable, "-m", "perfledger", *shown[1].split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [each.rstrip() for each in done.stdout.splitlines()] == shown[2].splitlines()


@pytest.mark.parametrize("page", PAGES)
def test_files_named_in_documents_exist(page: str) -> None:
    text = read(page)
    links = re.findall(r"(?<!!)\[[^\]]+\]\((?!https?:|#)([^)#]+)", text)
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []
    commands = set(re.findall(r"\bmake ([a-z-]+)\b", " ".join(re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL))))
    assert commands <= {
        each for line in re.findall(r"^([a-z][a-z -]*):", read("Makefile"), re.MULTILINE) for each in line.split()
    }


def test_files_do_not_name_the_machine_they_were_made_on() -> None:
    """Raw logs are an exception, since they stay as printed."""
    place = re.compile(rb"(?<![\w.])/(?:work|root)/")
    kept = [name for name in tracked() if not (name.startswith("raw_logs/") and name.endswith(".log"))]
    assert [name for name in kept if place.search((ROOT / name).read_bytes())] == []
