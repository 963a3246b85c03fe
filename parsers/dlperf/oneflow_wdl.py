"""OneFlow-Benchmark, Wide & Deep (`wdl_train_eval.py`): a line per `loss_print_every_n_iter` steps, with the clock.

The speed follows from the clock alone: a Unix time or, in the first releases, a date. It includes evaluation.
`batch_size` is of the whole job. DLPerf took the seconds of the 1000 iterations after the first line for milliseconds
per iteration, and 0 for shorter logs. A `.mem` file next to the log states the memory.
"""

from perfledger.parsers.contract import Fact, Format, Pause, Reading
from perfledger.parsers.dlperf import ARGUMENT, WIDE_DEEP, argument

_PAUSES = (Pause("evaluation", " eval_loss "),)

FORMAT = Format(
    title="OneFlow Wide & Deep",
    framework="OneFlow",
    start="^deep_vocab_size = ",
    before_start=ARGUMENT,
    readings=(
        Reading("^{step} time {unix} loss {loss}", unit="samples/s", pauses=_PAUSES),
        Reading("^{step} time {clock} loss {loss}", unit="samples/s", pauses=_PAUSES),
        Reading("^{step} eval_loss {_} eval_auc {accuracy}"),
    ),
    facts=(
        Fact("model", rb"^ *+(deep_vocab_size|wide_vocab_size) ", lambda _: "Wide & Deep"),
        *WIDE_DEEP,
        argument("nodes", "node_num"),
    ),
)  # fmt: skip
