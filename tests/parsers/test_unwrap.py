"""Filters that restore a log that another tool exported."""

from __future__ import annotations

import io
import json

import pytest

from perfledger.parsers.unwrap import FILTERS

LOG = b"epoch 1: loss <0.5>\nepoch 2: loss <0.4>\n"
LINES = LOG.decode().splitlines()
MIDNIGHT = 1_795_132_800_000_000_000


def restored(name: str, export: str | bytes) -> bytes:
    return b"".join(FILTERS[name](io.BytesIO(export if isinstance(export, bytes) else export.encode())))


@pytest.mark.parametrize("key", ["log", "line", "message", "data", "textPayload"])
def test_json_lines_are_read(key: str) -> None:
    rows = [json.dumps({"stream": "stdout", key: f"{each}\n"}) for each in LINES]
    assert restored("json", "\n".join(rows)) == LOG
    assert restored("json", "[" + "\n,".join(rows) + "]\n") == LOG


def test_an_answer_of_loki_is_sorted_by_time() -> None:
    values = [[str(MIDNIGHT + at), each] for at, each in enumerate(LINES)]
    answer = {"status": "success", "data": {"result": [{"stream": {"pod": "a"}, "values": values[::-1]}]}}
    assert restored("loki", json.dumps(answer)) == LOG


def test_entries_of_google_cloud_are_sorted_by_time() -> None:
    entries = [{"timestamp": f"2026-11-20T10:00:0{at}Z", "textPayload": each} for at, each in enumerate(LINES)]
    assert restored("gcloud", json.dumps([*entries[::-1], {"timestamp": "2026-11-20T10:00:00Z"}])) == LOG


@pytest.mark.parametrize(
    ("name", "export"),
    [
        ("html", "<pre>epoch 1: loss &lt;0.5&gt;<br>\n<b>epoch 2</b>: loss &lt;0.4&gt;</pre>\n"),
        ("markdown", "> ```\n> epoch 1: loss <0.5>\n> epoch 2: loss <0.4>\n> ```\n"),
        ("markdown", "    epoch 1: loss <0.5>\n    epoch 2: loss <0.4>\n"),
        ("grep", "a/train.log:epoch 1: loss <0.5>\na/train.log:epoch 2: loss <0.4>\n"),
        ("grep", "train.log-7-epoch 1: loss <0.5>\ntrain.log:8:epoch 2: loss <0.4>\n"),
        (
            "diff",
            "--- a.log\n+++ b.log\n@@ -1 +1,2 @@\n-epoch 1: loss <0.7>\n epoch 1: loss <0.5>\n+epoch 2: loss <0.4>\n",
        ),
        ("numbered", "     1\tepoch 1: loss <0.5>\n     2\tepoch 2: loss <0.4>\n"),
        ("numbered", "7:epoch 1: loss <0.5>\n8:epoch 2: loss <0.4>\n"),
    ],
)
def test_a_log_is_restored(name: str, export: str) -> None:
    assert restored(name, export) == LOG


@pytest.mark.parametrize(
    ("name", "export", "said"),
    [
        ("json", '{"log": "a"}\n{"log": 1}\n', "line 2 is not a JSON object"),
        ("json", "epoch 1\n", "line 1 is not a JSON object"),
        ("loki", '{"log": "a"}', "not an answer of Loki"),
        ("gcloud", '{"entries": 1}', "not a JSON list"),
        ("grep", "a.log:epoch 1\nb.log:epoch 1\n", "line 2 is of a second file"),
    ],
)
def test_another_form_is_refused(name: str, export: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        restored(name, export)
