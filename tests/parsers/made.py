"""Sessions and figures of made-up lines, for tests that print lines themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.measurement import measured
from perfledger.ingest.compute.metrics import metrics
from perfledger.parsers.engine.read import Log, read
from perfledger.parsers.engine.session import Session
from perfledger.schema.records import Figure, MetricFigure, NoFigure

#: The rule that drops no record.
ALL = "sustained:skip=0"
#: A job of one device, for printers of seconds.
ONE = {"devices": 1, "batch_size": 32}


def log_of(lines: Sequence[str], folder: Path) -> Log:
    """Write lines to a file and read it. A session reads its file again, so every log has its own."""
    path = folder / f"train{len(list(folder.iterdir()))}.log"
    path.write_bytes("".join(f"{each}\n" for each in lines).encode())
    return read(path)


def session_of(lines: Sequence[str], folder: Path, format_id: str) -> Session:
    """Return the only session of lines that one format claims."""
    log = log_of(lines, folder)
    assert [each.format.id for each in log.claims] == [format_id]
    (session,) = log.sessions
    return session


def facts_of(session: Session) -> dict[str, Any]:
    """Return the facts that the log states."""
    return {name: each.value for name, each in session.facts.items()}


def figure(session: Session, rule: str = ALL, **case: int) -> Figure | NoFigure:
    """Return the figure under a rule, with facts that the log does not state."""
    return rules.figure(rule, session, facts_of(session) | case)


def value(session: Session, rule: str = ALL, **case: int) -> float:
    """Return the value of a figure that must exist."""
    found = figure(session, rule, **case)
    assert isinstance(found, Figure), found
    return found.value


def reason(session: Session, rule: str = ALL, **case: int) -> str:
    """Return the missing number, or the code of another reason, of a figure that must be absent."""
    found = figure(session, rule, **case)
    assert isinstance(found, NoFigure), found
    return str(found.reason.args.get("missing", found.reason.code))


def published(session: Session, **case: int) -> float:
    """Return the headline, which must exist."""
    found = measured(session, facts_of(session) | case).headline
    assert isinstance(found, Figure), found
    return found.value


def blamed(session: Session, **case: int) -> str:
    """Return the witness that withholds the headline."""
    found = measured(session, facts_of(session) | case).headline
    assert isinstance(found, NoFigure), found
    assert found.reason.code == "withheld", found
    return str(found.reason.args["witness"])


def metrics_of(session: Session, **case: int) -> dict[str, MetricFigure]:
    """Return the figures other than throughput."""
    return metrics(session, facts_of(session) | case, figure(session, "sustained", **case))


def elapsed(seconds: float) -> str:
    """Return the time in tqdm's form, cut to whole seconds."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes:02d}:{rest:02d}"


def bars(total: int, rate: str, every: int = 1) -> list[str]:
    """Return the states of a bar with a fixed time."""
    return [f" 10%|#    | {step}/{total} [00:21<06:46,  {rate}]" for step in range(every, total + 1, every)]


def dllogger(unix: float, step: object, data: dict[str, object]) -> str:
    """Return a line of DLLogger."""
    return "DLLL " + json.dumps({"timestamp": f"{unix:.6f}", "type": "LOG", "step": step, "data": data})
