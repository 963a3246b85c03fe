"""A tree of logs of which every text wants to become something else, and the site that the commands make of it.

Nothing of it was measured. The texts stand in the names of files and folders, in logs, in every key of run.json and
environment.json, in telemetry, in tables of published figures and their sources, in a layout, in a suite, in plans of
recipes, and in what a file states of accelerators.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from perfledger.ingest.published import publications
from perfledger.ingest.read import accelerators, walk
from perfledger.schema.plans import PLANS_FOLDER, SCHEMA
from tests.site import kinds
from tests.site.projects import copy_code

ADDRESS = "https://example.org/sub/"
#: Content of a file that the texts ask MkDocs to include, and the product that a template would compute.
CANARY, PRODUCT = "canary-that-was-included", str(1234 * 5678)

#: What is planted, by what it is for. A text that is shown holds its name, so that a test can find each one.
TEXTS = {
    "image": "<img src=x onerror=alert(1)> image",
    "vector": '"><svg onload=alert(1)> vector',
    "script": "</script><script>alert(1)</script> script",
    "title": "</title></textarea></style></pre></code><script>alert(1)</script> title",
    "frame": '<iframe srcdoc="<script>alert(1)</script>"></iframe> frame',
    "quote": "' onmouseover='alert(1)' \" onfocus=\"alert(1)\" autofocus quote",
    "style": '" style="background:url(https://evil.example/x) style',
    "base": '<base href="https://evil.example/"><meta http-equiv=refresh content=0;url=https://evil.example> base',
    "form": "<form action=https://evil.example><input autofocus onfocus=alert(1)> form",
    "maths": "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)> maths",
    "foreign": "<svg><foreignObject><body onload=alert(1)> foreign",
    "markdown": '<div markdown="1" onclick=alert(1)> markdown',
    "place": '<div data-block="0"></div> place',
    "link": "[x](javascript:alert(1)) link",
    "tail": "](javascript:alert(1)) tail",
    "automatic": "<javascript:alert(1)> <https://evil.example/automatic> automatic",
    "picture": "![x](https://evil.example/picture.png) picture",
    "reference": "[x][evil] [evil]: javascript:alert(1) reference",
    "expression": "{{ 1234*5678 }} expression",
    "statement": "{% raw %}{% include 'x' %} {# statement",
    "snippet": '--8<-- "data/canary.txt"',
    "snippets": ";--8<-- \ndata/canary.txt\n--8<--",
    "attribute": "{: onclick=alert(1) .evil } attribute",
    "attributes": "word{ #evil onclick=alert(1) } attributes",
    "entity": "&lt;img src=x onerror=alert(1)&gt; &#x3C;b&#62; entity",
    "cdata": "]]> <![CDATA[ cdata",
    "comment": "<!-- comment",
    "instruction": "<?php x ?> <!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]> &e; instruction",
    "equals": '=HYPERLINK("https://evil.example","equals")',
    "plus": "+cmd|' /C calc'!A0 plus",
    "minus": "-2+3+cmd|' /C calc'!A0 minus",
    "at": "@SUM(1+1)*cmd|' /C calc'!A0 at",
    "wide": "＝1+1 wide",
    "blank": " =1+1 blank",
    "tabbed": "\t=1+1 tabbed",
    "return": "a\r\n=1+1 return",
    "lines": "a\u2028b\u2029c lines",
    "direction": "a\u202eb\u2066c direction",
    "invisible": "a\u200bb\u200dc\ufeff invisible",
    "stash": "\x02klzzwxh:0001\x03 \x02wzxhzdk:0\x03 stash",
    "null": "a\x00b\x1b[31mc null",
    "pipe": "a|b|c pipe",
    "ticks": "`a` ``b ```c ticks",
    "footnote": "[^1] [^1]: footnote",
    "abbreviation": "*[HTML]: abbreviation",
    "emoji": ":smile: :material-home: emoji",
    "contents": "[TOC]",
    "admonition": '!!! danger "admonition"',
    "tab": '=== "tab"',
    "heading": "# heading",
    "rule": "---",
    "front": "---\ntitle: evil\n--- front",
    "template": "${alert(1)} `${alert(1)}` template",
    "prototype": "__proto__",
    "constructor": "constructor",
    "long": "long" * 800,
    "surrogate": "a\ud800b surrogate",
    "bold": "[[wiki]] *bold* _under_ **x** ~~y~~ *_ $x^2$ \\( y \\) bold",
    "figure": "</pre></code></figure><b> figure",
    "block": "line\n\n# heading\n\n- list\n\n1. one\n\n    code\n\n|---|---| block",
}
#: Those that do something at the beginning of a text or line only.
_FIRST = (
    "snippet", "attribute", "equals", "plus", "minus", "at", "wide", "blank", "tabbed", "return", "heading", "rule",
    "admonition", "tab", "contents", "front", "abbreviation", "prototype", "constructor", "null", "long", "block",
)  # fmt: skip
#: Those that a table or a layout may hold.
PRINTABLE = tuple(text for text in TEXTS.values() if text.isprintable())
_PER_PATH, _LAID = 5, 18


def joined() -> list[str]:
    """Return the texts, a few in one, so that fewer pages show them all; those of the beginning begin."""
    others = [text for key, text in TEXTS.items() if key not in (*_FIRST, "surrogate")]
    found = [" ".join([TEXTS[key], *others[at :: len(_FIRST)]]) for at, key in enumerate(_FIRST)]
    return [*found, TEXTS["prototype"], TEXTS["surrogate"]]


def names() -> list[str]:
    """Return the texts as names of files and folders."""
    kept = [text for key, text in TEXTS.items() if key not in ("surrogate", "long")]
    return [text.replace("/", "\u2215").replace("\x00", "")[:60] for text in kept]


LINE = (
    "DLL 2026-01-01 00:{minute:02}:{second:02}.000000 - Epoch: 0 Iteration: {step}  train.loss : 7.00000 None "
    "train.compute_ips : {speed:.2f} images/s train.total_ips : {speed:.2f} images/s\n"
)


def _batches(texts: list[str]) -> list[list[str]]:
    return [texts[at : at + _PER_PATH] for at in range(0, len(texts), _PER_PATH)]


def build(folder: Path, cache: Path) -> None:
    """Write the tree into a copy of the project, and the pages of it, with the commands of users."""
    copy_code(folder)
    _suite(folder / "report_templates" / "suites" / "hostile.toml")
    logs = folder / "raw_logs"
    for number, text in enumerate(joined()):
        _run(logs / "planted" / str(number) / "1", text, number)
    (logs / "empty").mkdir()
    for number, batch in enumerate(_batches(names())):
        _run(logs.joinpath(*batch, "1"), "plain", number)
    for name in names():
        (logs / "empty" / f"{name}.log").touch()
    _telemetry(logs / "planted" / "1" / "1")
    _published(logs / "published")
    _accelerators(logs / accelerators.FILE)
    _plans(logs / PLANS_FOLDER)
    _layout(folder / "hostile-layout.toml", logs)
    _ingested(folder)
    (folder / "docs" / "data" / "canary.txt").write_text(CANARY, "utf-8")


def _ingested(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ingest", "build", "raw_logs", "--layout", "hostile-layout.toml", "--out", "docs"],
        cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr  # some of it is refused, and told
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr + done.stdout


def _run(folder: Path, text: str, number: int) -> None:
    """Write a run whose every text is the given one: its log, run.json and environment.json."""
    folder.mkdir(parents=True)
    written = text.encode("utf-8", "surrogatepass")
    steps = [LINE.format(minute=step // 60, second=step % 60, step=step, speed=64) for step in range(40)]
    parameters = f"DLL 2026-01-01 00:00:00.000000 - PARAMETER model : {text} optimizer : {text}\n"
    head = [parameters.encode("utf-8", "surrogatepass"), b"# ", written, b"\n", written, b"\n"]
    tail = [b"Traceback (most recent call last):\n", b"RuntimeError: ", written, b"\n"] if number % 9 == 0 else []
    log = b"".join([*head, *(each.encode() for each in steps), *tail])
    (folder / "train.log").write_bytes(log)
    environment = {
        "schema": "perfledger.environment/1", "gpus": [{"name": text[:300], text[:300]: text[:300]}],
        "topology": text, "infiniband": [text[:300]], "packages_installed": [text[:300]],
    }  # fmt: skip
    details = json.dumps(environment).encode()
    (folder / "environment.json").write_bytes(details)
    document = _run_json(text, number)
    document["files"] = {
        "train.log": {"sha256": hashlib.sha256(log).hexdigest(), "bytes": len(log)},
        "environment.json": {"sha256": hashlib.sha256(details).hexdigest(), "bytes": len(details)},
    }
    (folder / "run.json").write_text(json.dumps(document), "utf-8")


def _run_json(text: str, number: int) -> dict[str, Any]:
    """Return a run.json in which every free text is the given one; in some, those are too that must be known words."""
    case: dict[str, Any] = {
        "model": "Hostile net" if number % 4 else text, "framework": text, "hardware": text, "nodes": 1, "devices": 1,
        "batch_size": 64, "precision": "fp32", "options": {text: text, "named": text},
    }  # fmt: skip
    told = {
        "schema": "perfledger.run/1", "suite": text, "case": case, "outcome": "completed", "repeat": 1,
        "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:01:00Z", "wall_seconds": 60.0, "notes": text,
        "argv": ["python", text], "environment": {"cpu": text, "os": text, text: text, "packages": {text: text}},
        "environment_variables": {text: text}, "source": {"repository": text, "commit": text, text: text},
        "recipe": {
            "name": text, "sha256": text, "case": {text: text}, "command": [text], "setup": [text], "launcher": text,
            "container": {"tool": text, "image": text, "digest": text},
        },
        "records": {"format": "ngc.pytorch_resnet50", "count": 40, "at_least": 30}, "warnings": [text],
        "nodes": [{"folder": "."}], text: text,
    }  # fmt: skip
    if number % 5 == 4:
        told |= {"outcome": text, "format": text, "round": text, "start": text, "end": text}
        told["nodes"] = [{"folder": text, "outcome": text}]
    return told


def _telemetry(folder: Path) -> None:
    rows = [f"2026/01/01 00:00:{second:02}.000, 0, {text}, 10.00 W" for second, text in enumerate(PRINTABLE)]
    told = "\n".join(["timestamp, index, name, power.draw [W]", *rows])
    (folder / "telemetry.csv").write_text(told, "utf-8")


def _published(folder: Path) -> None:
    """Write tables of figures whose texts are the planted ones, some of which are refused, and their sources."""
    folder.mkdir(parents=True)
    sources = (
        f'[[source]]\nname = {json.dumps(text)}\ntitle = {_both(text)}\naddress = "https://example.net/a"\n'
        f'page = "https://example.net/{{path}}"\nlog = "https://example.net/{{path}}"\nyear = 2026\n'
        f"words = {_both(text)}\n"
        for text in PRINTABLE
    )
    (folder / walk.SOURCES).write_text("\n".join(sources), "utf-8")
    with (folder / "planted.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, publications.COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(
            kinds.figure(
                source=text, place=text, line=text, log=text, framework=text, framework_source=text, hardware=text,
                options=f"named={text.replace(';', ' ')}", label=text, note=text,
                model="Hostile net" if number % 10 else text,
            )
            for number, text in enumerate(PRINTABLE)
        )  # fmt: skip


def _accelerators(path: Path) -> None:
    entries = (
        f"[{json.dumps(text)}]\ndate = 2026-01-01\nwatts = 100\nwatts_source = {json.dumps(text)}\n"
        for text in PRINTABLE
    )
    path.write_text("\n".join(entries), "utf-8")


def _plans(folder: Path) -> None:
    """Write a plan per text, which stands wherever a plan holds one; a recipe's name names no file of ours."""
    folder.mkdir()
    for number, text in enumerate(PRINTABLE):
        case = {
            "nodes": 1, "devices": number + 1, "batch_size": 8, "precision": "fp32", "options": {text: text},
            "choices": {text: text}, "command": text,
        }  # fmt: skip
        told = dict.fromkeys(("recipe", "title", "suite", "framework", "launcher", "text", "notes"), text)
        data = {"name": text, "below": text, "layout": [text], "address": text, "checksum": text}
        lists = {"packages": [text], "setup": [text], "cases": [case], "data_set": data}
        source = {"repository": text, "commit": text, "folder": text}
        fixed = {"schema": SCHEMA, "device": "gpu", "iterations": 1, "repeats": 1, "model": "ResNet-50 v1.5"}
        plan = {**fixed, **told, **lists, "source": source, "image": {"image": text, "digest": text}}
        (folder / f"{number}.json").write_text(json.dumps(plan), "utf-8")


def _layout(path: Path, logs: Path) -> None:
    """Write a layout that makes facts of names, and logs that it fits; the first path fits our own tree."""
    texts = [" ".join(PRINTABLE[at::_LAID]) for at in range(_LAID)]
    words = "\n".join(
        f"[words.{kind}]\n" + "\n".join(f"x{at} = {{ {kind} = {json.dumps(text)} }}" for at, text in enumerate(texts))
        for kind in ("model", "framework", "hardware")
    )
    path.write_text(
        f'title = {json.dumps(TEXTS["image"])}\nsource = "https://example.net/layout"\n\n{words}\n\n'
        '[[path]]\ntemplate = "laid/{model}_{framework}_{hardware}.log"\n\n'
        '[[path]]\ntemplate = "{repeat}/train.log"\n',
        "utf-8",
    )
    (logs / "laid").mkdir()
    for at in range(0, _LAID, 3):
        steps = [LINE.format(minute=0, second=step, step=step, speed=64) for step in range(40)]
        (logs / "laid" / f"x{at}_x{at + 1}_x{at + 2}.log").write_text("".join(steps), "utf-8")


def _both(text: str) -> str:
    """Return a text in both languages, as a file of words has it: its braces are no placeholders."""
    words = json.dumps(text.replace("{", "{{").replace("}", "}}"))
    return f"{{ en = {words}, zh = {words} }}"


def _suite(path: Path) -> None:
    words = "\n".join(f"{key} = {_both(' '.join(PRINTABLE))}" for key in ("summary", "what", "setup", "steps"))
    path.write_text(
        f'title = {_both(TEXTS["script"])}\nmodels = ["Hostile net"]\nunit = "images/s"\n'
        f'frameworks = {json.dumps(PRINTABLE)}\nrow_options = ["named"]\n\n[words]\n{words}\n',
        "utf-8",
    )
