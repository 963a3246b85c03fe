"""OneFlow-Benchmark, BERT pre-training (`run_pretraining.py`): a record per `loss_print_every_n_iter` steps.

`throughput` is that of the whole job, in sentences. Most releases end the line with a Unix time, which DLPerf uses for
its figures. Steps are counted from 0. An older dialect prints `iter` instead of `step`, with the speed in three decimals
and the seconds per batch. OneFlow's models (`oneflow.nn`) print the epoch after the speed; if `pred_acc` precedes
it, some releases count one device and others all, and the line is not read.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.dlperf import ARGUMENT, ONEFLOW_HEADER

FORMAT = Format(
    title="OneFlow BERT pre-training",
    framework="OneFlow",
    start="^batch_size_per_device = ",
    before_start=ARGUMENT,
    readings=(
        Reading(
            "step: {step}, total_loss: {loss}, mlm_loss: {_} nsp_loss: {_} throughput: {throughput}{? {unix}}\n",
            unit="sequences/s",
        ),
        Reading(
            "step: {step}, total_loss: {loss}, mlm_loss: {_} nsp_loss: {_} throughput: {throughput}, epoch: {epoch}{? {unix}}",
            unit="sequences/s",
        ),
        Reading(
            "iter {step}, total_loss: {loss}, mlm_loss: {_} nsp_loss: {_} speed: {step_seconds}(sec/batch), {throughput}(sentences/sec)",
            unit="sequences/s",
        ),
    ),
    facts=(
        Fact("model", "^num_hidden_layers = {}", words={b"12": "BERT-base", b"24": "BERT-large"}),
        *ONEFLOW_HEADER,
    ),
)  # fmt: skip
