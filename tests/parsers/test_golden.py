"""Golden logs give their expected records, facts and figures, also with tags, other line ends, or compressed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from golden import GOLDEN, NUMBERS, UNLISTED, columns_of, command, evaluate, log_of, rules_of
from golden import table as table_of

from perfledger.ingest.compute import rules
from perfledger.ingest.compute.chain import as_printed
from perfledger.ingest.compute.one_run import steps_increase
from perfledger.parsers.contract import COLUMNS
from perfledger.parsers.engine.read import Session, read
from perfledger.parsers.engine.registry import by_id, formats
from perfledger.schema.records import Figure, NoFigure

FORMATS = [each.id for each in formats()]
#: Printers without a start line, or whose golden log has none; only their steps show that a second run begins.
SILENT = {
    "dlperf.gluon_nlp_bert", "dlperf.mindspore", "dlperf.paddle_plsc", "dlperf.paddle_resnet50", "dlperf.partial_fc",
    "dlperf.pytorch_examples", "dlperf.tensorflow2_bert", "dlperf.tensorflow2_resnet50",
    "frameworks.bigdl", "frameworks.chainer", "frameworks.habitat",
    "frameworks.composer", "frameworks.detectron2_json", "frameworks.dinov2_json", "frameworks.dllogger",
    "frameworks.dllogger_text", "frameworks.gluon_cv_torch",
    "frameworks.fairseq2", "frameworks.hf_results", "frameworks.horovod_imagenet", "frameworks.hrnet_seg",
    "frameworks.kaggle_loop", "frameworks.libai", "frameworks.litgpt", "frameworks.llamafactory",
    "frameworks.mindformers", "frameworks.mindspeed", "frameworks.ms_swift", "frameworks.nanotron",
    "frameworks.nemo", "frameworks.nemo_automodel", "frameworks.nemo_bar", "frameworks.nemo_rl",
    "frameworks.olmo_core", "frameworks.openmmlab_json", "frameworks.prime_rl", "frameworks.rl_seconds",
    "frameworks.sam2", "frameworks.tensorboard", "frameworks.voiceprint", "frameworks.wenet", "frameworks.xtuner",
    "ngc.mxnet_resnet50_speed", "ngc.tensorflow2_bert", "ngc.tensorflow_bert", "ngc.tensorflow_transformer_xl",
    "paddle.fleetx", "paddle.nlp_bert", "paddle.nlp_examples", "paddle.nlp_glue", "paddle.nlp_uie", "paddle.paddle3d",
    "paddle.paddlex",
    "paddle.reproduction", "paddle.science", "paddle.seg", "paddle.speech", "paddle.video",
}  # fmt: skip
#: Formats with a figure whose `hand` is still empty. Do not add formats.
NOT_BY_HAND = {
    "dlperf.oneflow_bert", "dlperf.oneflow_resnet50", "dlperf.oneflow_wdl", "frameworks.ai_toolkit", "frameworks.caffe",
    "frameworks.centernet", "frameworks.chinese_clip", "frameworks.detectron1", "frameworks.detectron2",
    "frameworks.dinov2_json", "frameworks.fairseq", "frameworks.fairseq_old", "frameworks.gaussian_splatting",
    "frameworks.hf_iteration", "frameworks.hrnet_seg", "frameworks.icefall", "frameworks.libai",
    "frameworks.llama_recipes", "frameworks.mlx_lm", "frameworks.mmsr", "frameworks.nemo_bar", "frameworks.ostrack",
    "frameworks.parameter_golf", "frameworks.paxml", "frameworks.pix2pix", "frameworks.sam2", "frameworks.semseg",
    "frameworks.swin", "frameworks.tf_cnn_benchmarks", "frameworks.timm", "frameworks.torchtune", "frameworks.wenet",
    "ngc.pytorch_maskrcnn", "ngc.pytorch_transformer", "ngc.tensorflow2_electra", "paddle.clas_static", "paddle.hapi",
    "paddle.hub",
}  # fmt: skip
#: Printers whose start line is that of a related printer. Keras is recognised by its first bar.
ALIKE = {
    "dlperf.oneflow_insightface": "dlperf.oneflow_bert",
    "dlperf.oneflow_resnet50": "dlperf.oneflow_bert",
    "paddle.clas_static": "paddle.clas_dygraph",
    "frameworks.axolotl": "frameworks.hf_trainer",
    "frameworks.diffusers": "frameworks.hf_trainer",
    "frameworks.hf_iteration": "frameworks.hf_trainer",
    "frameworks.hf_notebook": "frameworks.hf_trainer",
    "frameworks.openpcdet_bar": "frameworks.openpcdet",
    "frameworks.trl": "frameworks.hf_trainer",
}


def table(format_id: str, name: str) -> list[dict[str, str]]:
    return table_of(GOLDEN / format_id / name)


@cache
def session_of(format_id: str) -> Session:
    log = read(log_of(format_id))
    assert [each.format.id for each in log.claims] == [format_id]
    assert log.cut_line == 0
    (session,) = log.sessions
    return session


def test_every_format_has_a_golden_log() -> None:
    folders = {path.name for path in GOLDEN.iterdir() if path.is_dir()}
    missing = sorted(set(FORMATS) - folders)
    assert not missing, "formats without a golden log; to make one: " + "; ".join(map(command, missing))
    assert sorted(folders - set(FORMATS)) == [], "golden logs without a format"


@pytest.mark.parametrize("format_id", FORMATS)
def test_records_are_those_of_the_table(format_id: str) -> None:
    main, expected = session_of(format_id).main, table(format_id, "records.csv")
    assert expected
    assert len(main) == len(expected)
    assert main.lines(range(len(main))) == [int(each["line"]) for each in expected]
    assert set(columns_of(session_of(format_id))) == set(expected[0])
    for name in expected[0].keys() - {"line"}:
        printed = [each[name] for each in expected]
        if any(printed):
            # Sums of verbs have rounding errors.
            numbers = [float(each) for each in printed]
            assert main[name].tolist() == pytest.approx(numbers, rel=1e-15, abs=0, nan_ok=True), name
        else:
            assert name not in main


@pytest.mark.parametrize("format_id", FORMATS)
def test_facts_are_those_of_the_table(format_id: str) -> None:
    facts = session_of(format_id).facts
    for each in table(format_id, "facts.csv"):
        found = facts[each["fact"]]
        assert (str(found.value), found.line) == (each["value"], int(each["line"])), each["fact"]
    assert session_of(format_id).ending.outcome in ("completed", "truncated")


@pytest.mark.parametrize("format_id", FORMATS)
def test_figures_are_those_of_the_table(format_id: str) -> None:
    session, expected = session_of(format_id), table(format_id, "figures.csv")
    assert set(rules_of(session)) <= {each["rule"] for each in expected}
    stated = {key: each.value for key, each in session.facts.items() if key in UNLISTED}
    for each in expected:
        found = rules.figure(
            each["rule"], session, stated | {name: int(each[name]) for name in NUMBERS if each.get(name)}
        )
        if not each["value"]:  # withheld
            assert isinstance(found, NoFigure), each
            continue
        assert isinstance(found, Figure), (each, found)
        assert math.isclose(found.value, float(each["value"]), rel_tol=1e-9), each
        assert each["hand"] or format_id in NOT_BY_HAND, (
            f"tests/golden/{format_id}/figures.csv, {each['rule']}: work the figure out from the log and write the "
            "arithmetic into `hand`, such as 8 * 256 / 0.5"
        )
        assert not each["hand"] or math.isclose(evaluate(each["hand"]), found.value, rel_tol=1e-9), each
        lines = (found.used, found.first_line, found.last_line)
        assert lines == tuple(int(each[name]) for name in ("used", "first_line", "last_line")), each


Rows = list[dict[str, float]]


def rows(sessions: tuple[Session, ...]) -> Rows:
    """Return the columns of every record of every reading, in order, without NaN, which is not equal to itself."""
    found: Rows = []
    for records in (each for session in sessions for each in session.records):
        names = [name for name in COLUMNS if name in records]
        columns = [records[name].tolist() for name in names]
        found += [
            {name: value for name, value in zip(names, row, strict=True) if not math.isnan(value)}
            for row in zip(*columns, strict=True)
        ]
    return found


@cache
def whole(format_id: str) -> tuple[bytes, Rows]:
    """Return the golden log of a format and its records."""
    found = rows((session_of(format_id),))
    assert found
    return log_of(format_id).read_bytes(), found


def facts_of(session: Session) -> dict[str, object]:
    return {name: each.value for name, each in session.facts.items()}


def tagged(text: bytes, by: bytes) -> bytes:
    return b"".join(by + each for each in text.splitlines(keepends=True))


@pytest.mark.parametrize("format_id", FORMATS)
@pytest.mark.parametrize(
    "carry",
    [
        lambda text: text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        lambda text: tagged(text, b"[1,0]<stdout>:"),
        lambda text: tagged(text, b"0: "),
        lambda text: tagged(text, b"node-1: "),
        lambda text: tagged(text, b"2026-11-20T01:02:03.123456789Z "),
        lambda text: b"\nWARNING: world size is 8, 100 iterations\n\n" + text,
        lambda text: text + b"\nsome launcher says good-bye\n",
    ],
    ids=["line ends", "tags", "labels of srun", "hosts", "stamps", "a head", "a tail"],
)
def test_transport_changes_nothing(format_id: str, carry: Callable[[bytes], bytes], tmp_path: Path) -> None:
    text, expected = whole(format_id)
    path = tmp_path / "train.log"
    path.write_bytes(carry(text))
    log = read(path)
    assert [each.format.id for each in log.claims] == [format_id]
    assert rows(log.sessions) == expected
    (session,) = log.sessions
    assert facts_of(session) == facts_of(session_of(format_id))
    assert session.ending.outcome == session_of(format_id).ending.outcome


def is_part(found: dict[str, float], of: dict[str, float]) -> bool:
    """Return whether another record has all values of this one, to the sixth decimal, since a cut may lose digits."""
    return all(math.isclose(value, of.get(name, math.nan), rel_tol=2e-6) for name, value in found.items())


@pytest.mark.parametrize("format_id", FORMATS)
def test_cut_file_yields_no_other_number(format_id: str, tmp_path: Path) -> None:
    """A file that is cut in its last lines has the first records of the whole file.

    This test cuts at every eleventh byte; test_formats cuts samples at every byte.
    """
    text, expected = whole(format_id)
    path = tmp_path / "train.log"
    for end in range(len(text) - 1, max(0, len(text) - 200), -11):
        path.write_bytes(text[:end])
        log = read(path)
        assert [each.format.id for each in log.claims] == [format_id], text[:end][-80:]
        for found in rows(log.sessions):
            # A cut line may lack a loss or an accuracy after the figure.
            assert any(is_part(found, each) for each in expected), (found, text[:end][-80:])


@pytest.mark.parametrize("format_id", FORMATS)
def test_an_appended_run_is_a_session_if_its_printer_has_a_start_line(format_id: str, tmp_path: Path) -> None:
    """Without a start line, the two runs are one session."""
    text, expected = whole(format_id)
    path = tmp_path / "train.log"
    path.write_bytes(text + text)
    sessions = read(path).sessions
    if len(sessions) == 1:
        assert format_id in SILENT
        (session,) = sessions
        tables = [as_printed(each) for each in session.records if len(each)]
        assert any(steps_increase(each, session.stated) for each in tables)
        return
    assert [rows((each,)) == expected for each in sessions] == [True, True]
    stated = [facts_of(each) == facts_of(session_of(format_id)) for each in sessions]
    assert stated == [True, True]


@pytest.mark.parametrize("format_id", sorted(set(FORMATS) - SILENT - {"frameworks.keras", "frameworks.keras_losses"}))
def test_start_without_a_record_is_recognised(format_id: str, tmp_path: Path) -> None:
    text, _ = whole(format_id)
    found = [match.start() for each in by_id(format_id).readings if (match := each.finder.search(text))]
    path = tmp_path / "train.log"
    path.write_bytes(text[: text.rfind(b"\n", 0, min(found)) + 1])
    assert [(each.format.id, each.records) for each in read(path).claims] == [(ALIKE.get(format_id, format_id), False)]
