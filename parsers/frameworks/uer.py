"""UER-py and TencentPretrain: a line per `report_steps` batches with the tokens per second of the job, padding included.

The time begins anew with each line. It holds the wait for data and the checkpoints of the interval, of which no line tells.
A step is a batch of each device, however many of them an update accumulates.
"""

from perfledger.parsers.contract import Format, NearMiss, Reading, Sample
from perfledger.parsers.frameworks import PYTORCH_JOB

FORMAT = Format(
    title="UER-py",
    framework="PyTorch",
    marker=b" tokens/s| ",
    unproven=True,
    start=rb"Worker (?:[0-9]++ )?+is training \.\.\."
    rb"(?:(?:(?! tokens/s\| |is training \.\.\.)[^\n])*+\n(?:(?![^\n]*?(?: tokens/s\| |is training \.\.\.))[^\n]*+\n){0,99}+[^\n]*?Worker (?:[0-9]++ )?+is training \.\.\.)*+",
    readings=(
        Reading(
            rb"\| ++<step>/ *+<total_steps> steps\| ++<throughput> tokens/s\| loss:? ++<loss>(?=[\s|])",
            unit="tokens/s",
        ),
    ),
    facts=PYTORCH_JOB,
    samples=(
        Sample(
            b"|      100/  100000 steps| 24250.25 tokens/s| loss    8.02| acc: 0.041\n", step=100, total_steps=100000, throughput=24250.25, loss=8.02,
        ),
        Sample(
            b"[2026-11-20 10:11:12,500 INFO] |      200/  100000 steps| 43500.50 tokens/s| loss    7.79| loss_mlm: 7.125| loss_sp: 0.666| acc_mlm: 0.052| acc_sp: 0.600\n",
            step=200, throughput=43500.5, loss=7.79,
        ),
        NearMiss(b"|      100/  100000 steps| 24250.25 tokens/s| loss    8.0", "cut inside the number"),
        NearMiss(b"Epoch id: 1, Training steps: 100, Avg loss: 0.875\n", "the fine-tuning, which prints no speed"),
    ),
)  # fmt: skip
