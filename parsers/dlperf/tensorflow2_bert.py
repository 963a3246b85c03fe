"""TensorFlow Model Garden (TF 2), BERT (`model_training_utils.py`): a line per loop of steps, with a clock, no speed.

The speed follows from the clocks of two lines. glog prints no year, and some builds no date, so that a run over
midnight seems to go back in time, which once gave a negative speed. `--train_batch_size` is that of the job.
"""

from perfledger.parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, Window
from perfledger.parsers.frameworks import TENSORFLOW_GPU

FORMAT = Format(
    title="TensorFlow 2 BERT",
    framework="TensorFlow",
    marker=b"Train Step: ",
    readings=(
        Reading(
            rb"[IWE](?P<clock>(?:[0-9]{4} )?[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]++) ++[0-9]++ [\w.-]++:[0-9]++\] Train Step: "
            rb"<step>/<total_steps>  / loss = <loss>(?=\s)(?:[ \t]++(?:masked_lm|test|train)_accuracy = <accuracy>(?=\s))?+",
            unit="sequences/s",
            pauses=(
                Pause(
                    "evaluation",
                    rb"Running evaluation after step: ",
                    b"I0630 03:04:41.500000 139942479124288 model_training_utils.py:470] Running evaluation after step: 1000.",
                ),
                Pause(
                    "checkpoint",
                    rb"Saving model as TF checkpoint: ",
                    b"I0630 03:04:41.500000 139942479124288 model_training_utils.py:43] Saving model as TF checkpoint: out/ctl_step_1000.ckpt-1",
                ),
            ),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"--train_batch_size=(\d++)", int),
        Fact("devices_per_node", rb"--num_gpus=(\d++)", int),
        Fact("sequence_length", rb"--max_seq_length=(\d++)", int),
        TENSORFLOW_GPU,
        Fact("precision", rb"--dtype=(\w++)", words={b"fp16": "amp", b"bf16": "bf16", b"fp32": "fp32"}),
        Fact("xla", rb"--enable_xla=(\w++)", words={b"true": "True", b"True": "True", b"false": "False", b"False": "False"}),
    ),
    windows={"dlperf": Window(20, 120, "clock")},
    over=("dlperf.tensorflow2_resnet50",),
    samples=(
        Sample(
            b"I0630 03:04:41.500000 139942479124288 model_training_utils.py:444] Train Step: 12271/12271  / loss = 0.39529433846473694  "
            b"test_accuracy = 0.856514\n",
            step=12271, loss=0.39529433846473694, accuracy=0.856514, clock=78721481.5,
        ),
        Sample(
            b"I0630 03:04:41.500000 139942479124288 model_training_utils.py:444] Train Step: 90/130  / loss = 2.409637212753296  "
            b"masked_lm_accuracy = 0.557035  lm_example_loss = 2.333266  next_sentence_accuracy = 0.970781\n",
            step=90, accuracy=0.557035,
        ),
        NearMiss(b"I0630 03:04:41.019742 139942479124288 model_training_utils.py:444] Train Step: 122", "cut"),
        NearMiss(b"I0630 03:05:41.019742 139942479124288 model_training_utils.py:261] Step: [12271] Validation metric = 0.866", "validation"),
    ),
)  # fmt: skip
