"""Submissions: folders of runs with a manifest, handed in by others, and their place below the folder of raw logs.

`submit` of `ingest` packs a submission, and `accept` checks it. The path of a log shows whether it was submitted, and
by whom.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from perfledger.schema.records import Amount

SCHEMA: Literal["perfledger.submission/1"] = "perfledger.submission/1"
#: The folder of logs. Submissions are RAW_LOGS/FOLDER/SUBMITTER/ID/MANIFEST, and next to the manifest
#: SUITE/FRAMEWORK/CASE/REPEAT/run.json.
RAW_LOGS = "raw_logs"
FOLDER = "submitted"
MANIFEST = "submission.json"
#: Bytes of one file of a submission, at most.
LARGEST_FILE = 32 << 20
#: Bytes of all files of a submission, at most.
LARGEST = 128 << 20
#: Files of a submission, at most.
MOST_FILES = 1000
SUBMITTER = r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}"
ID = r"[0-9a-f]{12}"
_PLACE = re.compile(rf"(?:^|/){FOLDER}/({SUBMITTER})/{ID}/")
#: Names of folders and files of a run: without hidden files and characters that a shell or a browser interprets.
PATH = re.compile(
    r"(?:[A-Za-z0-9_][A-Za-z0-9_.=+-]{0,99}/){1,8}[A-Za-z0-9_][A-Za-z0-9_.=+-]{0,99}\.(?:json|log|csv|txt)"
)


class SubmittedFile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A file of a submission; `original` is its hash before names and addresses were removed."""

    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    bytes: Amount
    original: Annotated[str, Meta(pattern="^(?:[0-9a-f]{64})?$")] = ""


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """The `submission.json` of a submission: who submits which files, by their paths below it."""

    schema: Literal["perfledger.submission/1"]
    submitter: Annotated[str, Meta(pattern=f"^{SUBMITTER}$")]
    perfledger: Annotated[str, Meta(max_length=40)]
    files: Annotated[dict[str, SubmittedFile], Meta(min_length=1, max_length=MOST_FILES)]


class SubmissionCheck(Struct, frozen=True):
    """A line of the checklist: the check, its result, and what to do."""

    name: str
    state: Literal["pass", "warn", "fail"]
    text: str = ""


def identity(hashes: Mapping[str, str]) -> str:
    """Return the id of a submission: twelve characters of the hash of its files' names and hashes."""
    text = "".join(f"{each}  {name}\n" for name, each in sorted(hashes.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def submitter_of(path: str) -> str | None:
    """Return who submitted a log, by its path; None for a log that was measured here."""
    found = _PLACE.search(path)
    return found[1] if found else None
