"""NGC DeepLearningExamples, TensorFlow 1 Transformer-XL (`main.py`): a record per `--log_interval` updates.

From the printer's source alone: no real log has been read yet. `tok/s` is the mean over the interval of the whole job,
all accumulation steps included; the time of saving a checkpoint falls into the interval after it. The trainer's own
summary is the mean of these speeds without the first of them. PyTorch's summary has decimals, this one has none.
"""

from perfledger.parsers.contract import Format, Pause, Reading
from perfledger.parsers.ngc import TF32

FORMAT = Format(
    title="NGC TensorFlow Transformer-XL",
    framework="NGC TensorFlow",
    unproven=True,
    end="Training throughput: {:int} tok/s",
    readings=(
        Reading(
            "step {step} | lr  {_} | loss {loss} | pplx  {_}, bpc  {_}, tok/s {throughput}",
            unit="tokens/s",
            per_update=True,
            weak=True,
            pauses=(
                Pause("checkpoint", "Model saved in path: "),
            ),
        ),
        Reading(
            "Training throughput: {throughput:int} tok/s", unit="tokens/s", span="run", weak=True,
        ),
    ),
    facts=TF32,
)  # fmt: skip
