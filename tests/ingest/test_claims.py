"""No format claims a log of another: tried on all public logs, all goldens, and pairs of goldens."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from perfledger.parsers.engine.detect import claims
from perfledger.parsers.engine.read import read
from perfledger.parsers.engine.registry import formats
from perfledger.parsers.engine.scan import Noise, chunks
from tests.corpus import corpus, files
from tests.parsers.golden import logs as golden_logs

MADE = golden_logs()
#: Formats by the table's word for them; a word may name several printers.
PUBLIC = {
    "ppcls": {"paddle.clas_dygraph"},
    "paddledet": {"frameworks.paddle_detection"},
    "paddleocr": {"frameworks.paddle_ocr"},
    "dle_dllogger": {"frameworks.dllogger", "frameworks.nvlog"},
    "nemo_lightning": {"frameworks.nemo"},
    "tf_estimator": {"frameworks.tf_estimator"},
    "hf_trainer": {"frameworks.hf_trainer"},
    "fairseq": {"frameworks.fairseq", "frameworks.fairseq_old"},
    "megatron": {"dlperf.megatron"},
    "deepspeed": {"dlperf.deepspeed"},
    "mlperf": {"frameworks.mlperf"},
    "hugectr": {"frameworks.mlperf"},
    "tf_cnn_benchmarks": {"frameworks.tf_cnn_benchmarks"},
}


def ids(path: Path) -> list[str]:
    return [each.format.id for each in read(path).claims]


@pytest.mark.parametrize("file", [each.file for each in files()])
def test_exactly_one_format_claims_a_public_log(file: str) -> None:
    found = ids(corpus(file))
    assert len(found) == 1, found
    assert found[0] in PUBLIC.get(Path(file).parent.name, set(found))


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.parent.name)
def test_only_its_own_format_reads_a_made_log(path: Path) -> None:
    """Each format is tried alone, without the rules that choose one of several claims."""
    text = b"".join(chunk.text for chunk in chunks(path, Noise()))
    likely = [each for each in formats() if each.needs in text]
    found = [(each.id, one.weak) for each in likely for one in each.readings if one.first_in(text)]
    ids_of_readers = {each for each, weak in found if weak == all(weak for _, weak in found)}
    readers = [each for each in likely if each.id in ids_of_readers]
    # If some readers are over others, only the topmost counts.
    above = [each.id for each in readers if each.over and not any(each.id in other.over for other in readers)]
    assert (above or [each.id for each in readers]) == [path.parent.name]


def test_a_document_that_quotes_lines_of_a_log_is_not_claimed(tmp_path: Path) -> None:
    lines = ["Training throughput: 40000.50 tok/s", '"train_epoch_items/sec": [ is a key of DLLogger']
    path = tmp_path / "notes.json"
    path.write_text(json.dumps([{"value": 40000.5, "traps": lines}], indent=1))
    assert ids(path) == []


def test_a_file_that_begins_like_json_may_contain_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b'{"\xdf": 1}\n')
    assert ids(path) == []


@pytest.mark.parametrize(("first", "second"), list(pairwise([*MADE, MADE[0]])), ids=lambda path: path.parent.name)
def test_a_log_of_two_printers_names_both(first: Path, second: Path, tmp_path: Path) -> None:
    path = tmp_path / "both.log"
    path.write_bytes(first.read_bytes() + b"\n" + second.read_bytes())
    found = {each.format.id for each in claims(chunks(path, Noise()))}
    both = {first.parent.name, second.parent.name}
    known = {each.id: each for each in formats()}
    if not any(known[each].over or any(one.weak for one in known[each].readings) for each in both):
        assert found == both
    assert found <= both
