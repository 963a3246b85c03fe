"""axolotl over the Hugging Face Trainer: `'tokens/total'` and a speed of one device in its dictionaries.

The tokens are those of the job since the start, masked ones and padding included; with the time of the bar behind their
dictionary they give the speed. Only of a log without that total `tokens/train_per_sec_per_gpu` gives it: tokens that
count in the loss, of one device and of the last step before the line. Some releases divide it by the logging interval
once too often. What a log states besides is that of the Trainer.
"""

from parsers.contract import Format, NearMiss, Reading, Sample
from parsers.frameworks.hf_trainer import FORMAT as TRAINER
from parsers.frameworks.trl import paired, told

FORMAT = Format(
    title="axolotl",
    framework="PyTorch",
    marker=b"'tokens/",
    unproven=True,
    start=TRAINER.start,
    before_start=TRAINER.before_start,
    end=TRAINER.end,
    over=("frameworks.hf_trainer", "frameworks.trl"),
    readings=(
        Reading(told(rb"tokens/total"), unit="tokens/s", counts="update", pauses=TRAINER.main.pauses, postprocess=paired),
        Reading(
            rb"\{'loss': [^,\r\n{]++,(?:(?!'tokens/train_per_sec_per_gpu': |\{'loss': )[^\r\n])*+'tokens/train_per_sec_per_gpu': '?+<throughput>'?+[,}]",
            unit="tokens/s",
            scope="device",
            span="step",
            where=rb"\A(?![\s\S]*?'tokens/total': )",  # two measures of one log are not mixed
        ),
    ),
    facts=TRAINER.facts,
    samples=(
        Sample(
            "{'loss': 1.25, 'grad_norm': 2.5, 'learning_rate': 1e-05, 'memory/max_active (GiB)': 20.5, 'tokens/train_per_sec_per_gpu': 4321.5, "
            "'tokens/total': 655360, 'tokens/trainable': 480000, 'epoch': 0.05}\n\r  2%|▏         | 10/500 [01:20<1:05:20,  8.00s/it]".encode(),
            consumed=655360, step=10, total_steps=500, clock=80,
        ),
        Sample(
            b"{'loss': '1.25', 'learning_rate': '1e-05', 'tokens/train_per_sec_per_gpu': '4321.5', 'epoch': '0.05'}\n", throughput=4321.5,
        ),
        NearMiss(b"{'eval_loss': 1.5, 'eval_runtime': 12.5, 'tokens/total': 655360, 'epoch': 0.05}\n", "an evaluation"),
        NearMiss(b"{'loss': 1.25, 'learning_rate': 1e-05, 'tokens/train_per_sec_per_gpu': 4321.", "cut inside the number"),
    ),
)  # fmt: skip
