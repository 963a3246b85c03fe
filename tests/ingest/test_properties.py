"""A property of every format: lines around a session do not change its figures."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perfledger.ingest.compute.measurement import Measurement, measured
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.registry import formats
from tests.parsers.golden import log_of

#: Lines around a run in real files: prompts, bars, warnings, listings, and commands.
JUNK = (
    "", " ", "$ ", "+ date", "Fri Nov 20 08:00:00 UTC 2026", "total 48", "100%", "done", "===", "ips: 127.0.0.1", "{}",
    "drwxr-xr-x 2 a a 4096 Nov 20 08:00 logs", "  0%|          | 0/3 [00:00<?, ?it/s]", "speed: fast", "loss", "epoch",
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR", "步数", "step", "[]",
    "Downloading: 45.2MB [00:03, 12.1MB/s]", "0.5", "nan", "Epoch", "Iteration:", "export NCCL_DEBUG=INFO",
)  # fmt: skip
#: Facts of a case that some logs do not state.
CASE = {"devices": 1, "batch_size": 8, "sequence_length": 128, "accumulation": 1}
junk = st.lists(st.sampled_from(JUNK) | st.text("abc xyz0123.:=-", max_size=30), max_size=8).map(
    lambda lines: "".join(f"{each}\n" for each in lines).encode()
)


def figures(text: bytes, folder: Path) -> Measurement:
    path = folder / "train.log"
    path.write_bytes(text)
    (session,) = read(path).sessions
    return measured(session, CASE | {name: each.value for name, each in session.facts.items()})


@cache
def golden(format_id: str) -> bytes:
    """Return the golden log of a format, with a newline at its end."""
    return log_of(format_id).read_bytes().rstrip(b"\n") + b"\n"


#: InternLM's lines begin with a stamp like that of containers, which is removed if most lines have it.
OTHERS = [each.id for each in formats() if each.id != "frameworks.internlm"]


@pytest.mark.parametrize("format_id", OTHERS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=junk, after=junk)
def test_lines_around_a_session_change_no_figure(format_id: str, before: bytes, after: bytes, tmp_path: Path) -> None:
    text = golden(format_id)
    alone, between = figures(text, tmp_path), figures(before + text + after, tmp_path)
    for rule, figure in alone.figures.items():
        other = between.figures[rule]
        assert (other.value, type(other)) == (figure.value, type(figure)), rule
