"""PaddleRec's benchmark of parameter servers (CTR-DNN, Wide & Deep, Word2Vec): a line per epoch, and lines per batch.

Figures are computed from the epoch line (`using time`), which counts one node with all its threads or GPUs, and as many
samples in each epoch. The batch line (DataLoader mode only) counts one thread; for Word2Vec it counts training pairs,
about five per word, although it also says `word/sec`. The two are never mixed. The log is that of the first trainer;
`trainers:` is the number of nodes. The network is named only in the paths of some warnings, except for Word2Vec, the
only one that counts words. The trainers of its models (`tools/trainer.py`) print other lines per batch, of one
device: sums divided by the print interval, also for the first batch of an epoch, or the first two in older ones, whose
line is left out.
`tools/infer.py` prints the same of an inference, after a line that names the epoch that it loads, and mostly with
two decimals.
"""

from __future__ import annotations

from perfledger.parsers.contract import Fact, Format, Reading, up_to, within
from perfledger.parsers.paddle import FLEET

#: A job's name as the cluster writes it into paths, misspelling and all: `--W2V_benchamrk_16_DataSet_async_conv`.
_JOB = rb"--%s_bench(?:ma|am)rk_"


FORMAT = Format(
    title="PaddleRec",
    framework="PaddlePaddle",
    start="Run Worker Begin",
    readings=(
        *(
            Reading(
                f"Epoch: {{epoch}}, using time{{?:}} {{duration}} second, ips{{?:}} {{throughput}} {printed}/sec",
                unit=unit, scope="node", span="epoch",
            )
            for printed, unit in (("example", "samples/s"), ("word", "words/s"))
        ),
        *(
            Reading(
                f"Epoch: {{epoch}}, Batch: {{step}},{{?  auc: [{{accuracy}}],}}{{?  {{cost|LOSS}}: [{{loss}}],}}  avg_batch_cost: {{step_seconds}} sec, avg_samples: {{batch}}, ips: {{throughput}} {printed}/sec",
                unit=unit, scope="thread",
            )
            for printed, unit in (("example", "samples/s"), ("word", "pairs/s"))
        ),
        Reading(
            rb" - INFO - epoch: <epoch>, batch_id: (?![01],)<step>, " + up_to(rb" avg_reader_cost: ", rb" - INFO - ")
            + rb"<reader_seconds> sec, avg_batch_cost: <step_seconds> sec, avg_samples: <batch>, ips: <throughput>(?<!\.[0-9]{2}) (?:ins/s|images/sec)"
            rb"| - INFO - load model epoch <_inferred>\b",
            unit="samples/s",
            scope="device",
            verbs=(within("", "_inferred"),),
        ),
    ),
    facts=(
        Fact("model", _JOB % rb"(?i:(CtrDnn|ctr_dnn))", lambda _: "CTR-DNN"),
        Fact("model", _JOB % rb"(?i:(WideDeep|wide_deep))", lambda _: "Wide & Deep"),
        Fact("model", _JOB % rb"(?i:(W2V|Word2Vec))", lambda _: "Word2Vec"),
        Fact("model", rb"ips:? [\d.]++ (word)/sec", words={b"word": "Word2Vec"}),
        Fact("nodes", rb"communicator\.h:\d++\] trainers: (\d++)$", int),
        Fact("devices", "init nccl context nranks: {:int}"),
        FLEET,
        # The trainers divide the first batch of an epoch by the print interval.
        Fact("batch_size", " - INFO - use_gpu: {*} train_batch_size: {:int},"),
        Fact("batch_size", rb"batch_id: (?![01],)\d++, " + up_to(rb" avg_samples: ", rb"batch_id: ") + rb"(\d++)\.0++, ips: ", int),
        Fact("batch_size", rb"Batch: \d++, " + up_to(rb" avg_samples: ", rb"Batch: ") + rb"(\d++)\.0++, ips: ", int),
        Fact("reader", rb" Running (DataLoader|Dataset) Begin", words={b"DataLoader": "DataLoader", b"Dataset": "DataSet"}),
        Fact("sync_mode", rb"(GeoCommunicator)", lambda _: "geo"),
        # The first letter is cut off in the logs of some releases.
        Fact("sync_mode", rb"ync_mode: (async|geo|sync|half_async)\b"),
        Fact("sync_mode", _JOB % rb"(?:(?!_bench)\w)++" + rb"(?:(?!_(?:async|geo|sync)_)\w)*+_(async|geo|sync)_"),
    ),
)  # fmt: skip
