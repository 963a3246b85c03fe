"""From what each node of a job says of itself to the state of the job."""

from __future__ import annotations

from collections.abc import Mapping

from runners.places import nodes
from runners.places.nodes import Said
from runners.places.placed import Job, State

# The worst first: nothing is over as long as a node may be at work.
KINDS = ("unreachable", "running", "lost", "ended")


def kind(said: Said) -> str:
    """What a node is in, by its answer."""
    found = said.facts.get("kind", "")
    return found if found in KINDS and not said.unreachable else "unreachable"


def all_ended(seen: Mapping[int, Said]) -> bool:
    """Whether every node has said its last word."""
    return all(kind(each) == "ended" for each in seen.values())


def worst(job: Job, seen: Mapping[int, Said]) -> State:
    """The state of a job whose nodes were all asked."""
    kinds = {rank: kind(said) for rank, said in seen.items()}
    found = min(kinds.values(), key=KINDS.index)
    causes = [_cause(job, rank, seen[rank]) for rank in kinds if kinds[rank] == found]
    failed = "lost" in kinds.values() or _has_failed(seen)
    return _with_log(State(found, "; ".join(filter(None, causes)), failed=failed), seen)


def reported(found: State, seen: Mapping[int, Said]) -> State:
    """The state that a scheduler reports, with what is seen in the folders of the nodes."""
    if found.kind == "running" and not any(said.facts.get("bytes") for said in seen.values()):
        return State("waiting", "its nodes are being checked")
    failed = found.kind == "lost" or _has_failed(seen) or any("gone" in said.facts for said in seen.values())
    return _with_log(State(found.kind, found.cause, outcome=found.outcome, failed=failed), seen)


def _has_failed(seen: Mapping[int, Said]) -> bool:
    return any(said.facts.get("outcome") not in (None, "", "completed") for said in seen.values())


def _cause(job: Job, rank: int, said: Said) -> str:
    if kind(said) == "unreachable":
        return said.errors or f"{nodes.name(job, rank)}: it gave no answer"
    # By number, not by name: what it came to is published.
    where = f"node {rank}: " if job.nodes > 1 else ""
    return where + said.facts["cause"] if "cause" in said.facts else ""


def _with_log(found: State, seen: Mapping[int, Said]) -> State:
    longest = max(seen.values(), key=_bytes)
    return State(
        kind=found.kind,
        cause=found.cause,
        log_bytes=_bytes(longest),
        last_line=_shown(longest.facts.get("line", "")),
        outcome=found.outcome,
        failed=found.failed,
    )


def _bytes(said: Said) -> int:
    text = said.facts.get("bytes", "").strip()
    return int(text) if text.isdecimal() else 0


def _shown(line: str) -> str:
    """A line for a terminal: nothing that would move its cursor."""
    return "".join(character if character.isprintable() else " " for character in line)[:200].strip()
