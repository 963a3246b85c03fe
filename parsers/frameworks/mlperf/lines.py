"""Patterns of the lines of MLPerf's logs: begin and end of a run, its events, and their metadata."""

from __future__ import annotations

from collections.abc import Mapping

_NUMBER = rb"[-+]?+[0-9]++(?:\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+"
_TIME = rb"[0-9]++(?:\.[0-9]++)?+"
#: With the place in the source in 2018, and without it in 2019.
STAMP = rb':::ML(?:LOG \{"namespace": ?+"[^"\n]*+", ?+"time_ms": ?+|(?:Pv0\.5\.[0-9] \w++|L) (?=[0-9]))'
KEY = rb'(?:, ?+"event_type": ?+"[A-Z_]++", ?+"key": ?+"| (?:\([^)\r\n]{0,300}+\) )?+)'
VALUE = rb'", ?+"value": ?+'
#: In 2019, from a Python whose dictionaries have no order.
PLACE = rb'(?:"metadata": ?+\{[^{}\n]*+\}, ?+)?+'
#: Text before a later part of a line; real lines are shorter.
_LATER = rb"[^\n]{0,1500}?"
_IN_TRACKED = (
    rb"tracked_stats" + VALUE + rb'\{(?:"(?!throughput")[^"\n]{0,60}+": ?+[^,"\n{}]{0,60}+, ?+){0,20}+"throughput": ?+'
)
_THROUGHPUT = rb"(?:throughput" + VALUE + rb"|" + _IN_TRACKED + rb")"
_ENDS = rb"(?![a-z_0-9])"
#: Begin and end of a run, by the column with their times: the key, and the text that must follow it.
RUN: Mapping[str, bytes] = {
    "_run_start": rb"run_start" + _ENDS,
    "_missed": rb"run_stop(?=" + _LATER + rb'"(?:status": ?+"(?!success")\w++"|success": ?+false))',
    "_met": rb"run_stop(?=" + _LATER + rb'"(?:status": ?+"success"|success": ?+true))',
    "_run_stop": rb"run_stop" + _ENDS + rb"(?=" + _LATER + rb"\n)",
}  # fmt: skip
#: The target and the accuracies. In 2018 the end of a run does not state whether it succeeded, but they show it.
JUDGED: Mapping[str, bytes] = {
    "_aim": rb"eval_target: (?=[0-9.]++\s)",
    "_judged": rb"eval_accuracy" + _ENDS,
}
_PRINTED: Mapping[str, bytes] = {"_printed": _THROUGHPUT + _NUMBER + rb"[,}]"}
#: Counts of samples. The count at the beginning of a block is left out, since it may be the size of the block.
_COUNTED = rb'(?:block_stop|(?:eval|run)_(?:start|stop))"(?=' + _LATER + rb'"samples_count": ?+[0-9])'
SPEEDS: Mapping[str, bytes] = {**_PRINTED, "_counted": _COUNTED}
#: The mean over a block, by the callbacks of NVIDIA's NeMo: the line of a single step has a step.
BLOCK_MEAN = (
    rb"tracked_stats" + VALUE + rb'\{"train_step_time": ?+(?P<_step_seconds>' + _NUMBER + rb")\}"
    rb"(?=" + _LATER + rb'"samples_count": ?+[0-9])(?!' + _LATER + rb'"step")'
)  # fmt: skip
#: All events that state the progress of a run.
EVENTS: Mapping[str, bytes] = {
    **RUN,
    **_PRINTED,
    "_epoch_start": rb"(?:epoch_start|train_epoch)" + _ENDS,
    "_epoch_stop": rb"epoch_stop" + _ENDS,
    "_block_start": rb"block_start" + _ENDS,
    "_block_stop": rb"block_stop" + _ENDS,
    "_eval_start": rb"eval_start" + _ENDS,
    "_eval_stop": rb"eval_stop" + _ENDS,
    # MLPerf HPC: the run includes copying the data to the machines.
    "_staging_start": rb'staging_start"',
    "_staging_stop": rb'staging_stop"',
    **JUDGED,
    "_loss": rb'train_loss"',
    "_step_done": rb"tracked_stats" + VALUE + rb'\{"(?!valid)(?=' + _LATER + rb'"step": ?+[0-9])(?=' + _LATER + rb'"samples_count": ?+[0-9])',
    "_data_set": rb"(?:train_samples|input_size|preproc_num_train_examples)" + _ENDS,
    "_of_epoch": rb'samples_per_epoch"',
    "_detection": rb"submission_benchmark" + VALUE + rb'"(?:retinanet|ssd)"',
}  # fmt: skip
#: Keys in the metadata of an event, by the column that captures their values.
METADATA: Mapping[str, bytes] = {
    "_samples": b"samples_count", "_number": b"epoch_num", "_step": b"step(?:_num)?+", "_count": b"epoch_count", "_first": b"first_epoch_num",
}  # fmt: skip


def lines_of(events: Mapping[str, bytes], metadata: Mapping[str, bytes] | None = None) -> bytes:
    """Return the pattern of the lines of some events, with a logged speed, and with value and metadata if asked for."""
    times = b"|".join(rb"(?=(?P<%s>%s)%s%s)" % (name.encode(), _TIME, KEY, key) for name, key in events.items())
    values = rb"(?=(?:" + _THROUGHPUT + rb"(?P<throughput>" + _NUMBER + rb")(?=[,}]))?+)"
    if metadata is not None:
        values += (
            rb"(?=(?:\w++(?:"
            + VALUE
            + rb'|: ?+(?:\{(?:"epoch": ?+[0-9]++, ?+)?+'
            + PLACE
            + rb'"value": ?+)?+)(?P<_value>'
            + _NUMBER
            + rb")(?=[,}\s]))?+)"
        )
    for name, key in (metadata or {}).items():
        values += rb'(?=(?:%s"%s": ?+(?P<%s>%s)(?=[,}\s]))?+)' % (_LATER, key, name.encode(), _NUMBER)
    return STAMP + rb"(?:" + times + rb")" + _TIME + KEY + values
