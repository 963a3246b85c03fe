"""Event files of TensorBoard, made by an encoder that follows the public specification."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from perfledger.parsers.engine.read import Log, read
from perfledger.parsers.engine.scan import ScanError, open_log
from perfledger.parsers.engine.unpack import is_packed, plain_name
from tests.parsers.made_events import (
    NAME,
    Point,
    crc32c,
    event,
    events,
    field,
    header,
    masked,
    record,
    simple,
    tensor,
    trained,
)


def read_events(folder: Path, content: bytes) -> Log:
    path = folder / NAME
    path.write_bytes(content)
    return read(path)


def text(folder: Path, content: bytes) -> bytes:
    path = folder / NAME
    path.write_bytes(content)
    with open_log(path) as stream:
        return stream.read()


def steps(log: Log) -> Sequence[float]:
    return [each for session in log.sessions for each in session.main["step"]]


def test_the_checksum_is_that_of_the_specification() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4


def test_a_scalar_is_a_line_with_the_offset_of_its_record(tmp_path: Path) -> None:
    first, second = len(header()), len(events([("train/loss", 10, 5.25, 2.5)]))
    content = events([("train/loss", 10, 5.25, 2.5), ('a "b"', 20, 10.0, 31.979)])
    assert text(tmp_path, content).decode().splitlines() == [
        f'tensorboard offset={first} wall_time=1795132805.25 step=10 series=1 tag="train/loss" value=2.5',
        f'tensorboard offset={second} wall_time=1795132810.0 step=20 series=2 tag="a \\"b\\"" value=31.979',
    ]


def test_scalars_of_tensorflow_2_are_read_and_other_tensors_are_not(tmp_path: Path) -> None:
    number, double = struct.pack("<f", 0.125), struct.pack("<d", 0.1)
    vector = field(2, field(2, b"\x08\x03"))
    contents = {
        "a": b"\x08\x01" + field(2, b"") + field(4, number),
        "b": b"\x08\x01" + field(5, number),
        "c": b"\x08\x02" + field(4, double),
        "histogram": b"\x08\x01" + vector + field(4, 3 * number),
        "text": b"\x08\x07" + field(8, b"hello"),
        "image": b"\x08\x03" + field(4, number),
    }
    content = header() + b"".join(event(1, 1, field(5, tensor(tag, each))) for tag, each in contents.items())
    found = [line.partition(" tag=")[2] for line in text(tmp_path, content).decode().splitlines()]
    assert found == ['"a" value=0.125', '"b" value=0.125', '"c" value=0.1']


def test_an_event_may_have_several_values_and_a_negative_step(tmp_path: Path) -> None:
    content = header() + event(1, -1, field(5, simple("a", 1.0) + simple("b", float("nan"))))
    found = [line.partition(" step=")[2] for line in text(tmp_path, content).decode().splitlines()]
    assert found == ['-1 series=1 tag="a" value=1.0', '-1 series=2 tag="b" value=nan']


def test_large_records_are_skipped(tmp_path: Path) -> None:
    data = field(4, bytes(17 << 20))
    length = struct.pack("<Q", len(data))
    graph = length + masked(length) + data + bytes(4)
    content = header() + graph + event(1, 1, field(5, simple("a", 1.0)))
    assert text(tmp_path, content).startswith(f"tensorboard offset={len(header() + graph)} ".encode())


@pytest.mark.parametrize(
    ("at", "what"),
    [
        (2, "the checksum of its length is wrong"),
        (9, "the checksum of its length is wrong"),
        (40, "its checksum is wrong"),
    ],
)
def test_a_damaged_record_is_a_problem_that_names_its_offset(tmp_path: Path, at: int, what: str) -> None:
    content = bytearray(events(trained("train/epoch")))
    content[len(header()) + at] ^= 0x40
    with pytest.raises(ScanError) as caught:
        read_events(tmp_path, bytes(content))
    assert caught.value.code == "unreadable"
    assert caught.value.details["cause"] == f"the record at offset {len(header())} is damaged: {what}"


@pytest.mark.parametrize(
    "data",
    [
        b"\x2a\x05\x0a",  # a summary that is cut
        b"\x28\x05",  # a number in place of the summary
        b"\x08\x05\x2a\x00",  # a whole number in place of the wall time
        b"\x2a\x04\x0a\x02\x08\x01",  # a number in place of a tag
    ],
)
def test_a_record_that_is_not_an_event_is_damaged(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ScanError) as caught:
        read_events(tmp_path, header() + record(data))
    assert f"offset {len(header())} is damaged: it is no event" in str(caught.value.details["cause"])


@pytest.mark.parametrize("cut", [1, 6, 30])
def test_a_cut_at_the_end_is_a_cut_log(tmp_path: Path, cut: int) -> None:
    log = read_events(tmp_path, events(trained("train/epoch"))[:-cut])
    assert log.cut_line == 40
    assert len(steps(log)) == 20
    assert log.sessions[0].ending.outcome == "truncated"


def test_steps_and_wall_times_are_those_of_a_loss(tmp_path: Path) -> None:
    log = read_events(tmp_path, events(trained("train/epoch", "train/learning_rate", "eval/loss")))
    (session,) = log.sessions
    assert session.format.id == "frameworks.tensorboard"
    assert list(session.main["step"]) == list(range(10, 210, 10))
    assert np.diff(session.main["clock"]).tolist() == [5.0] * 19
    assert session.main.lines([0]) == [1]


def test_the_loss_with_most_points_counts(tmp_path: Path) -> None:
    points = [
        *trained("epoch", tag="train_loss_step"),
        ("train_loss_epoch", 100, 50.5, 2.0),
        ("val_loss", 100, 50.5, 2.0),
    ]
    assert len(steps(read_events(tmp_path, events(points)))) == 20


@pytest.mark.parametrize(
    ("more", "every", "pace", "found"),
    [
        ((), 10, 0.5, 20),
        ((), 1, 0.5, 0),  # they may be epochs
        (("rollout/ep_rew_mean",), 10, 0.5, 0),  # steps of an environment
        (("epoch",), 10, 0.5, 20),
        (("learning_rate",), 1, 300.0, 0),
        (("data_time",), 10, 0.5, 20),
        (("iteration-time",), 10, 2.1, 20),  # the values are 0.2 to 4, with a median of 2.1
        (("iteration-time",), 10, 300.0, 0),
        (("global_step/sec",), 10, 0.476, 20),
        (("global_step/sec",), 1, 300.0, 0),
    ],
)
def test_points_that_may_be_epochs_are_not_read(
    tmp_path: Path, more: tuple[str, ...], every: int, pace: float, found: int
) -> None:
    assert len(steps(read_events(tmp_path, events(trained(*more, every=every, pace=pace))))) == found


def test_points_by_epoch_are_not_steps(tmp_path: Path) -> None:
    points: list[Point] = []
    for epoch in range(1, 21):
        points += [("Loss/train", epoch, 300.0 * epoch, 2.5), ("epoch", epoch, 300.0 * epoch, float(epoch))]
    log = read_events(tmp_path, events(points))
    assert [each.format.id for each in log.sessions] == ["frameworks.tensorboard"]
    assert steps(log) == []


def test_events_of_the_hugging_face_trainer_have_facts_and_a_figure(tmp_path: Path) -> None:
    stated = json.dumps(
        {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2, "bf16": True, "max_steps": 200}, indent=2
    )
    shape = field(2, field(2, b"\x08\x01"))
    arguments = tensor("args/text_summary", b"\x08\x07" + shape + field(8, stated.encode()))
    network = tensor("model_config/text_summary", b"\x08\x07" + field(8, b'{"_name_or_path": "acme/tiny-lm"}'))
    summary = (("train_runtime", 100.5), ("train_samples_per_second", 31.979), ("train_steps_per_second", 1.99))
    content = (
        header() + event(0, 0, field(5, arguments)) + event(0, 0, field(5, network))
        + events(trained("train/epoch"))[len(header()) :]
        + b"".join(event(100.5, 200, field(5, simple(f"train/{tag}", value))) for tag, value in summary)
    )  # fmt: skip
    (session,) = read_events(tmp_path, content).sessions
    facts = {name: each.value for name, each in session.facts.items()}
    assert facts == {
        "model": "acme/tiny-lm", "batch_size": 4, "accumulation": 2, "total_steps": 200, "precision": "bf16",
        "framework": "PyTorch",
    }  # fmt: skip
    assert session.ending.outcome == "completed"
    (run,) = [each for each in session.records if each.reading.span == "run"]
    assert (run["seconds"].tolist(), run["throughput"].tolist()) == ([100.5], [31.979])


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        (NAME, True),
        ("events.out.tfevents.1795132800.box", True),
        ("run.tfevents.1795132800.box.v2", True),
        ("notes-on-tfevents.txt", False),
        ("tfevents.csv", False),
    ],
)
def test_event_files_are_recognised_by_their_names(name: str, packed: bool) -> None:
    assert is_packed(Path(name)) == packed
    assert plain_name(name) == name
