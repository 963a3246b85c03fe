"""MLPerf training logs: `:::MLLOG` with JSON (since 2020), `:::MLL` (2019) and `:::MLPv0.5.0` (2018).

If the submitter logs `throughput`, alone or among `tracked_stats`, it is that of the job, and this format takes
precedence over that of the training program that prints between its lines. It counts samples, of GPT tokens. Otherwise the figure is computed from whole
epochs, without evaluation if its times are logged, or from the whole run. `train_samples` is the size of the data set
if logged before the first epoch, and the number of processed samples if logged after it. The last epoch does not count,
since it may have ended when the target was met. Every node may log the throughput of the job, which counts once. Some
submitters count `epoch_num` in samples. `d_batch_size` and `gradient_accumulation_steps` mean different things to
different submitters, need not divide the batch of the job, and are not read. Times are wall-clock times; the first
epoch includes the start-up.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from parsers.contract import (
    NUMBER,
    Columns,
    Fact,
    Format,
    NearMiss,
    Pause,
    Postprocessed,
    Reading,
    Rows,
    Sample,
    text,
    up_to,
)
from parsers.frameworks import PYTORCH_JOB

#: Times of events, of which `_epochs_or_run` makes records.
_RUN, _RUN_END, _EPOCH, _EPOCH_END = "_run_start", "_run_stop", "_epoch_start", "_epoch_stop"
_JSON = rb':::MLLOG \{"namespace": ?+"[^"\n]*+", ?+"time_ms": ?+'
_KEY = rb', ?+"event_type": ?+"[A-Z_]++", ?+"key": ?+"'
_VALUE = rb'", ?+"value": ?+'
#: 2018 with the place in the source, 2019 without.
_TEXT = rb":::ML(?:Pv0\.5\.[0-9] \w++|L) (?=[0-9])"
_TIME = rb"[0-9]++(?:\.[0-9]++)?+"
_WHERE = rb" (?:\([^)\r\n]{0,300}+\) )?+"
_NUMBER_OF_EPOCH = rb'[^\n]{0,400}?"epoch_num": ?+<epoch>(?=[,}\s])'


def _benchmark(printed: bytes) -> str:
    """Return the network of a benchmark: by the rules of every round, `bert` is BERT-large."""
    return {b"bert": "BERT-large"}.get(printed) or text(printed)


def _epochs_or_run(columns: Columns) -> Postprocessed:
    """Return whole epochs, or the whole run, as records with samples and seconds."""
    at = {name: np.flatnonzero(np.isfinite(each)) for name, each in columns.items()}
    stated = at.get("samples", np.empty(0, np.intp))
    if not len(stated):
        return np.empty(0, np.intp), {}
    ends = at[_EPOCH_END] if len(at[_EPOCH_END]) else at[_RUN_END]
    processed = len(ends) and stated[0] > ends[0]
    spans = (_run if processed else _epochs)(columns, at)
    rows = np.array([row for row, _, _ in spans], dtype=np.intp)
    return rows, {
        "epoch": np.array([epoch for _, epoch, _ in spans]),
        "samples": np.full(len(rows), columns["samples"][stated[0]]),
        "duration": np.array([seconds for _, _, seconds in spans]),
    }


def _run(columns: Columns, at: dict[str, Rows]) -> list[tuple[int, float, float]]:
    """Return (row, epoch, seconds) of the whole run, if both its ends were logged."""
    begin, end = at[_RUN][:1], at[_RUN_END][-1:]
    if not (len(begin) and len(end) and begin[0] < end[0]):
        return []
    return [(int(end[0]), 1.0, float(columns[_RUN_END][end[0]] - columns[_RUN][begin[0]]))]


def _epochs(columns: Columns, at: dict[str, Rows]) -> list[tuple[int, float, float]]:
    """Return (row, epoch, seconds) of every epoch but the last, if they are numbered one by one."""
    numbers = columns["epoch"]
    _, first = np.unique(numbers[at[_EPOCH]], return_index=True)
    starts = at[_EPOCH][np.sort(first)]
    if not (np.diff(numbers[starts]) == 1).all():
        return []
    times, found = columns[_EPOCH], []
    for start, after in pairwise(starts):
        ends = at[_EPOCH_END][(at[_EPOCH_END] > start) & (at[_EPOCH_END] < after)]
        row, end = (ends[0], columns[_EPOCH_END][ends[0]]) if len(ends) else (after, times[after])
        found.append((int(row), float(numbers[start]), float(end - times[start])))
    return found


def _seconds(columns: Columns) -> Postprocessed:
    """Return the whole run as a record of its seconds."""
    begin, end = (np.flatnonzero(np.isfinite(columns[name])) for name in (_RUN, _RUN_END))
    if not (len(begin) and len(end) and begin[0] < end[-1]):
        return np.empty(0, np.intp), {}
    return end[-1:], {"seconds": columns[_RUN_END][end[-1:]] - columns[_RUN][begin[:1]]}


def _event(column: str, key: bytes, more: bytes = b"") -> bytes:
    """Return a pattern for an event of the JSON dialect, with its time in a column of its own."""
    return rb"(?=(?P<%s>[0-9]++)%s%s\"%s)" % (column.encode(), _KEY, key, more)


#: What NVIDIA's launch scripts say of the machines.
_SYSTEM = rb":::SYSJSON \{"
#: Submitters of GPT log its speed in tokens, those of everything else in samples.
_IN_TOKENS = rb'"submission_benchmark' + _VALUE + rb'"gpt'


_CONSUMED = rb'(?=(?:[^\n{}]*?"samples_count": ?+(?P<consumed>' + NUMBER + rb")(?=[,}]))?+)"


def _throughput(unit: str, where: bytes, consumed: bytes = b"") -> Reading:
    """Return the reading of a logged speed, in the unit of the benchmark, with the samples since the start, if logged."""
    return Reading(
        _JSON + rb"(?P<unix>[0-9]++)" + _KEY + rb"(?:throughput" + _VALUE + rb"|tracked_stats" + _VALUE
        + rb'\{[^\n{}]*?"throughput": ?+)(?P<throughput>' + NUMBER + rb")(?=[,}])"
        rb'(?:[^\n{}]*+\}?+, ?+"metadata": ?+\{' + consumed + rb'[^\n{}]*?"(?:step|epoch_num|samples_count)": ?+(?P<step>' + NUMBER + rb")(?=[,}]))?",
        unit=unit,
        span="epoch",
        factors={"unix": 1e-3},
        repeated=True,
        where=where,
    )  # fmt: skip


FORMAT = Format(
    title="MLPerf",
    marker=b":::ML",
    over=("*",),
    start=rb'"key": ?+"submission_benchmark"|:::MLPv0\.5\.[0-9] \w++ [0-9.]++ \([^)\r\n]{0,300}+\) run_start',
    before_start=rb'"key": ?+"(?:cache_clear|init_start|global_batch_size)"|\) run_clear_caches|:::MLL [0-9.]++ init_start: ',
    end=rb'"key": ?+"run_stop"[^\n]{0,400}?"status": ?+"success"|:::MLPv0\.5\.[0-9] \w++ [0-9.]++ \([^)\r\n]{0,300}+\) run_final|:::MLL [0-9.]++ run_stop: [^\n]{0,400}?"status": ?+"success"',
    readings=(
        _throughput("samples/s", rb"\A(?![\s\S]*?" + _IN_TOKENS + rb")", _CONSUMED),
        _throughput("tokens/s", _IN_TOKENS),
        Reading(
            _JSON + rb"(?:" + b"|".join((
                _event(_RUN, rb"run_start"), _event(_RUN_END, rb"run_stop"),
                _event(_EPOCH, rb"epoch_start", _NUMBER_OF_EPOCH), _event(_EPOCH_END, rb"epoch_stop"),
                rb"(?=[0-9]++" + _KEY + rb"train_samples" + _VALUE + rb"(?P<samples>[0-9]++)[,}])",
            )) + rb")",
            unit="samples/s",
            span="epoch",
            factors=dict.fromkeys((_RUN, _RUN_END, _EPOCH, _EPOCH_END), 1e-3),
            weak=True,
            postprocess=_epochs_or_run,
        ),
        Reading(
            _TEXT + rb"(?:(?=(?P<_run_start>" + _TIME + rb")" + _WHERE + rb"run_start\b)|(?=(?P<_run_stop>" + _TIME + rb")" + _WHERE
            + rb"run_stop\b)|(?=(?P<_epoch_start>" + _TIME + rb")" + _WHERE + rb"(?:train_epoch: |epoch_start: " + _NUMBER_OF_EPOCH[:-len(rb"<epoch>(?=[,}\s])")]
            + rb")<epoch>(?=[,}\s]))|(?=(?P<_epoch_stop>" + _TIME + rb")" + _WHERE + rb"epoch_stop\b)|(?=" + _TIME + _WHERE
            + rb'(?:input_size: |preproc_num_train_examples: |train_samples: \{"value": )(?P<samples>[0-9]++)(?=[,}\s])))',
            unit="samples/s",
            span="epoch",
            weak=True,
            # In 2018 an epoch has no end of its own, and lasts until the next one begins.
            pauses=(
                Pause(
                    "evaluation",
                    rb":::MLPv0\.5\.[0-9] \w++ [0-9.]++ (?:\([^)\r\n]{0,300}+\) )?+eval_start",
                    b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) eval_start",
                ),
            ),
            postprocess=_epochs_or_run,
        ),
        Reading(
            _JSON + rb"(?:" + _event(_RUN, rb"run_start") + rb"|" + _event(_RUN_END, rb"run_stop") + rb")",
            span="run",
            factors=dict.fromkeys((_RUN, _RUN_END), 1e-3),
            weak=True,
            marker=b'"run_st',
            postprocess=_seconds,
        ),
        Reading(
            _TEXT + rb"(?:(?=(?P<_run_start>" + _TIME + rb")" + _WHERE + rb"run_start\b)|(?=(?P<_run_stop>" + _TIME + rb")"
            + _WHERE + rb"run_stop\b))",
            span="run",
            weak=True,
            marker=b"run_st",
            postprocess=_seconds,
        ),
        Reading(
            rb'(?:"eval_accuracy' + _VALUE + rb'|[ )]eval_accuracy: \{(?:"epoch": [0-9]++, )?+"value": )(?P<accuracy>' + NUMBER + rb")(?=[,}])",
            weak=True,
        ),
    ),
    facts=(
        Fact("model", rb'"submission_benchmark' + _VALUE + rb'"([^"\n]++)"', _benchmark),
        Fact("model", rb":::MLPv0\.5\.[0-9] (\w++) ", _benchmark),
        Fact("batch_size_of_job", rb'"global_batch_size' + _VALUE + rb"([0-9]++)\b", int),
        # NVIDIA's launch scripts say on what they run.
        Fact("nodes", _SYSTEM + up_to(rb'"number_of_nodes":"', _SYSTEM) + rb'([0-9]++)"', int),
        Fact("devices_per_node", _SYSTEM + up_to(rb'"accelerators_per_node":"', _SYSTEM) + rb'([0-9]++)"', int),
        Fact("gpu", _SYSTEM + up_to(rb'"accelerator_model_name":"', _SYSTEM) + rb'([^"\n]++)"'),
        Fact("framework", _SYSTEM + up_to(rb'"framework":"', _SYSTEM) + rb'(PyTorch|MXNet|TensorFlow|HugeCTR|PaddlePaddle|JAX|DGL)\b'),
        Fact("nodes", rb"\bDGXNNODES=([0-9]++)\b", int),
        Fact("devices_per_node", rb"\bDGXNGPU=([0-9]++)\b", int),
        *PYTORCH_JOB,
        Fact("devices_per_node", rb'"submission_platform' + _VALUE + rb'"[0-9]++x ?+(?:NVIDIA )?+(DGX[ -]?(?:1|A100|H100|H200|B200|B300))\b', lambda _: 8),
        Fact("devices_per_node", rb'"submission_platform' + _VALUE + rb'"[0-9]++x ?+(?:NVIDIA )?+(DGX-2H?)\b', lambda _: 16),
        Fact("nodes", rb'"submission_platform' + _VALUE + rb'"([0-9]++)x ?+(?:NVIDIA )?+DGX', int),
        Fact("optimizer", rb'"opt_name' + _VALUE + rb'"([^"\n]++)"'),
        Fact("sequence_length", rb'"max_sequence_length' + _VALUE + rb"([0-9]++)\b", int),
    ),
    samples=(
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "throughput", '
            b'"value": 26500.25, "metadata": {"file": "fit.py", "lineno": 958}}',
            clock=1795169472.5, throughput=26500.25, step=float("nan"),
        ),
        Sample(
            b'0: :::MLLOG {"namespace": "worker", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
            b'"value": {"train_step_time": 0.25, "throughput": 3750.5}, "metadata": {"file": "run.py", "lineno": 1850, "epoch_num": 150586}}',
            throughput=3750.5, step=150586,
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "INTERVAL_START", "key": "epoch_start", '
            b'"value": null, "metadata": {"file": "train.py", "lineno": 258, "epoch_num": 2}}',
            _epoch_start=1795169472.5, epoch=2, _run_start=float("nan"),
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "train_samples", '
            b'"value": 2400384, "metadata": {"file": "train.py", "lineno": 224}}',
            samples=2400384, _epoch_start=float("nan"),
        ),
        Sample(
            b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) train_epoch: 7\n",
            _epoch_start=1795169472.5, epoch=7,
        ),
        Sample(b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) run_stop: {}\n", _run_stop=1795169472.5),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "INTERVAL_END", "key": "run_stop", '
            b'"value": null, "metadata": {"file": "train.py", "lineno": 300, "status": "success"}}',
            _run_stop=1795169472.5, _run_start=float("nan"),
        ),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
            b'"value": {"throughput": 375.5}, "metadata": {"file": "run.py", "lineno": 18, "step": 32, "samples_count": 4096}}',
            throughput=375.5, step=32, consumed=4096,
        ),
        Sample(b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) input_size: 1281167\n",
               samples=1281167),
        Sample(b':::MLL 1795169472.500 epoch_start: {"value": null, "metadata": {"epoch_num": 3, "lineno": 7}}',
               _epoch_start=1795169472.5, epoch=3),
        Sample(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", '
            b'"value": 0.75, "metadata": {"file": "train.py", "lineno": 280, "epoch_num": 1}}',
            accuracy=0.75,
        ),
        NearMiss(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
            b'"value": {"val_accuracy": 0.5}, "metadata": {"file": "run.py", "lineno": 1850}}',
            "statistics without a speed",
        ),
        NearMiss(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "throughput", "value": 265',
            "cut inside the number",
        ),
        NearMiss(b":::MLPv0.5.0 resnet 1795169472.500000000 (/workspace/log_utils.py:49) eval_size: 50000", "of the evaluation"),
        NearMiss(
            b':::MLLOG {"namespace": "", "time_ms": 1795169472500, "event_type": "POINT_IN_TIME", "key": "global_batch_size", '
            b'"value": 3264, "metadata": {"file": "fit.py", "lineno": 1216}}',
            "a fact, not a record",
        ),
    ),
)  # fmt: skip
