"""PaddleNLP, BERT and ERNIE 1.0 pre-training, TinyBERT and MiniLM, and the tests of its models (TIPC).

A record per `logging_steps` steps. `ips` is the throughput of one device. `avg_batch_cost` includes the wait for data,
which the static graph (`total step`, once misspelt as `tobal step`) adds to it once more. Its `ips` is too low if the
loader is slow, so the seconds of a step count. There every rank prints its lines. The data are in several files. If
another file begins within a record, the record counts the steps since then only, and is left out. With gradient merge,
about every 88th step also reduces and updates. One record in nine is therefore slow, and counts. Some logs print the
command at the very end. LLaVA of PaddleMIX prints the samples of the job that PaddleNLP's Trainer counts, and no unit.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Pause, Reading, listed
from perfledger.parsers.paddle import LAUNCHER, MAX_MEMORY
from perfledger.parsers.paddle.nlp_trainer import HEAD, PAUSES

#: Numbers that differ by at most this share are equal.
_SAME = 2e-3


def _whole_intervals(columns: Columns) -> Columns:
    """Drop records of fewer samples per step than usual; correct speeds that count the wait for data twice."""
    ips, cost, samples = (columns[each] for each in ("throughput", "step_seconds", "_samples"))
    usual = np.median(samples)
    slowed = np.abs(ips * (cost + columns["reader_seconds"]) / usual - 1) <= _SAME
    slowed &= np.abs(ips * cost / usual - 1) > _SAME
    corrected = columns.assign(throughput=np.where(slowed, usual / cost, ips))
    return corrected.take(~(samples < usual * (1 - _SAME)))


_LINE = (
    "step{?:} {step}{? / {total_steps}}, {?epoch: {epoch}, batch: {_}, }loss: {loss}, {?lr: {_}, }{?avg_reader_cost: {reader_seconds} sec, }"
    "avg_batch_cost: {step_seconds} sec, "
)  # fmt: skip
_PAUSES = (Pause("checkpoint", "tokenizer config file saved in ", inside="none"),)

FORMAT = Format(
    title="PaddleNLP BERT pre-training",
    framework="PaddlePaddle",
    start=rb"(?m)^Namespace\((?=adam_epsilon=|[^\n]*?, logging_steps=)",
    readings=(
        Reading(_LINE + "avg_samples: {_samples}, ips: {throughput} sequences/sec" + MAX_MEMORY, unit="sequences/s", scope="device", ranks="median", pauses=_PAUSES, verbs=(_whole_intervals,)),
        # Stable Diffusion, of images; and translation, whose batches vary: `avg_samples` are the words of the last one.
        Reading(_LINE + "avg_samples: {_samples}, ips: {throughput} sample/sec" + MAX_MEMORY, unit="samples/s", scope="device", pauses=_PAUSES, verbs=(_whole_intervals,)),
        Reading(_LINE + "avg_samples: {_}, ips: {throughput} words/sec" + MAX_MEMORY, unit="words/s", scope="device", pauses=_PAUSES),
        # ERNIE 1.0, of the whole job; its timer begins again after an evaluation.
        Reading("global step {step}, loss: {loss}, lm_loss: {_}, {?sop_loss: {_}, }speed: {_} steps/s, ips: {throughput} seqs/s, ", unit="sequences/s", per_update=True),
        # LLaVA.
        Reading(
            "global step {step}, loss: {loss}, ips: {throughput}, max_mem_reserved: {_} MB, max_mem_allocated: {memory} MB",
            unit="samples/s", per_update=True, pauses=PAUSES,
        ),
    ),
    facts=(
        Fact("batch_size", rb"(?:^batch_size: |\bbatch_size=)(\d++)", int),
        Fact("accumulation", rb"(?:^gradient_merge_steps: |\bgradient_merge_steps=)(\d++)", int),
        Fact("precision", rb"(?:^use_pure_fp16: |\buse_pure_fp16=)(True)", words={b"True": "fp16"}),
        Fact("precision", rb"(?:^use_amp: |\buse_amp=)(\w++)", words={b"True": "amp", b"1": "amp", b"False": "fp32", b"0": "fp32"}),
        Fact("model", rb"(?:^model_name_or_path: |\bmodel_name_or_path=)'?([^'\s,]++)"),
        Fact("total_steps", rb"(?:^max_steps: |\bmax_steps=)(\d++)", int),
        *HEAD,  # Of Stable Diffusion and LLaMA.
        *LAUNCHER,
        Fact("devices_per_node", rb"--gpus[= ]([\d,]++) ", listed),
    ),
)  # fmt: skip
