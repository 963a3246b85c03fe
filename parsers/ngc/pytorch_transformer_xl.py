"""NGC DeepLearningExamples, PyTorch Transformer-XL (`train.py`): a record per `--log_interval` steps.

`tok/s` and `ms/batch` are means over the interval, of the whole job; the clock stops while the model is evaluated and saved. The
step goes on from epoch to epoch. `batch_size` is that of the job, in sequences of `tgt_len` tokens; `batch_chunk` parts it
and leaves the step what it is. `Training throughput` is the mean since the beginning of training without the first steps.
"""

from perfledger.parsers.contract import Fact, Format, Reading
from perfledger.parsers.frameworks import PYTORCH_JOB
from perfledger.parsers.ngc import APEX, ONE_NODE, TF32

FORMAT = Format(
    title="NGC PyTorch Transformer-XL",
    framework="NGC PyTorch",
    start="^Namespace({*}gpu0_bsz=",
    end="^Training throughput: ",
    readings=(
        Reading(
            "| epoch {epoch} step {step} | batches  {_} / {_} | lr {_} | ms/batch {step_seconds:in ms} | tok/s {throughput} | loss {loss} |",
            unit="tokens/s",
        ),
        Reading(rb"Training throughput: (?=\d++\.)<throughput> tok/s", unit="tokens/s", span="run"),
    ),
    facts=(
        *TF32,
        Fact("model", "Namespace({*}d_model={},", words={b"512": "Transformer-XL base", b"1024": "Transformer-XL large"}),
        Fact("batch_size_of_job", rb"^ *+- batch_size : (\d++)", int),
        Fact("batch_size_of_job", "Namespace({*}batch_size={:int}"),
        Fact("sequence_length", "Namespace({*}tgt_len={:int}"),
        Fact("total_steps", "Namespace({*}max_step={:int}"),
        *PYTORCH_JOB,
        ONE_NODE,
        APEX,
        Fact("precision", "Namespace({*}fp16={},", words={b"True": "amp", b"False": "fp32"}),
    ),
)  # fmt: skip
