"""HRNet for segmentation (`tools/train.py`), DDRNet, PIDNet and others: a record per `PRINT_FREQ` iterations.

`Time` is the mean seconds of an iteration since the epoch began, with the wait for data, which is undone to what each
line adds. It has two decimals: of iterations too fast for these the clocks of the lines tell the speed, and where lines
have none nothing is told. The log file has clocks, what the terminal shows has none. The batch size of a device stands
in the configuration; its `GPUS` need not be those that were used.
"""

from parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample
from parsers.contract.coarse import FINE_MEAN, fine_seconds

FORMAT = Format(
    title="HRNet, semantic segmentation",
    framework="PyTorch",
    marker=b"] Iter:[",
    unproven=True,
    readings=(
        Reading(
            rb"(?:(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) )?+Epoch: \[<epoch>/<total_epochs>\] Iter:\[<step>/<total_steps>\], "
            rb"Time: <step_seconds>, lr: [^\r\nL:]++Loss: <loss>(?=[,\s])",
            unit="images/s",
            cumulative_since=0,
            epoch_timer=True,
            postprocess=fine_seconds(FINE_MEAN),
            pauses=(
                Pause("evaluation", rb"Loss: [0-9.]++, MeanIU: ", b"2026-11-20 10:00:50,250 Loss: 0.125, MeanIU:  0.6250, Best_mIoU:  0.6250"),
                Pause("checkpoint", rb"=> saving checkpoint to ", b"2026-11-20 10:00:50,250 => saving checkpoint to output/cityscapes/checkpoint.pth.tar"),
            ),
        ),
    ),
    facts=(
        Fact("batch_size", rb"^TRAIN:[ \t\r]*+\n(?:(?![A-Z_]++:[ \t\r]*+\n)[^\n]*+\n){0,60}? *+BATCH_SIZE_PER_GPU: (\d++)$", int),
        Fact("total_epochs", rb"^ *+END_EPOCH: (\d++)$", int),
    ),
    samples=(
        Sample(
            b"2026-11-20 10:00:00,250 Epoch: [3/484] Iter:[10/247], Time: 0.75, lr: [0.009625], Loss: 1.250000\n",
            epoch=3, total_epochs=484, step=10, total_steps=247, step_seconds=0.75, loss=1.25,
        ),
        Sample(
            b"Epoch: [3/484] Iter:[10/247], Time: 0.75, lr: [0.001, 0.01], Loss: 4.250000, Acc:0.843750, Semantic loss: 2.5, BCE loss: 0.25, SB loss: 1.5\n",
            epoch=3, step=10, step_seconds=0.75, loss=4.25,
        ),
        NearMiss(b"2026-11-20 10:00:50,250 Loss: 0.125, MeanIU:  0.6250, Best_mIoU:  0.6250\n", "the validation"),
        NearMiss(b"Epoch: [3/484] Iter:[10/247], Time: 0.75, lr: [0.009625], Loss: 1.25", "cut"),
    ),
)  # fmt: skip
