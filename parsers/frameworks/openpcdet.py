"""OpenPCDet (`tools/train.py`): a record per `logger_iter_interval` iterations, the seconds between the lines' clocks.

The printed seconds have two decimals, too few for fast networks, so the clock gives the speed. It includes the
intermediate checkpoints of every five minutes, which have lines, and, between two epochs, the checkpoint of the epoch.
Steps are those of the run, which are printed next to those of the epoch. `batch_size` among the arguments is that of a
device. Two dialects: `epoch: 4/120, acc_iter=1100, cur_iter=15/271` up to 2022, where epochs count from 0, and since
then `Train:    4/120 (  3%) [  15/271 (  6%)]`. Its bars (`--use_tqdm_to_record`) have their own format.
"""

from perfledger.parsers.contract import EPOCH_END, Fact, Format, Pause, Reading

_PAUSES = (Pause("checkpoint", "INFO  Save latest model to "),)

FORMAT = Format(
    title="OpenPCDet",
    framework="PyTorch",
    start="INFO  {_}Start logging",
    end="INFO  {_}End training ",
    readings=(
        Reading(
            "{clock} INFO  Train: {epoch}/{total_epochs} ({*}%) [{*}({*}%)]  Loss: {_} ({loss})  LR: {_} Time cost: {*}Acc_iter {step} ",
            unit="samples/s",
            pauses=(*_PAUSES, EPOCH_END),
        ),
        Reading(
            "{clock} INFO  epoch: {epoch}/{total_epochs}, acc_iter={step}, cur_iter={_}/{_}, batch_size={_}, {?time_cost(epoch): {*}, time_cost(all): {*}, }loss={loss}, ",
            unit="samples/s",
            pauses=(*_PAUSES, EPOCH_END),
        ),
    ),
    facts=(
        Fact("batch_size", "INFO  batch_size {:int}$"),
        Fact("batch_size_of_job", "INFO  {?Training in distributed mode : }total_batch_size: {:int}$"),
        Fact("devices", rb"\bINFO ++(Training with a single process|launcher ++none)$", lambda _: 1),
        Fact("total_epochs", "INFO  epochs {:int}$"),
        Fact("model", rb"\bINFO ++cfg_file ++(?:[^\s/]++/)*+([\w+-]++(?:\.(?!yaml$)[\w+-]++)*+)\.yaml$"),
        Fact("precision", "INFO  use_amp  {}$", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
