"""Darknet (`detector train`, `classifier train`), by its author and by AlexeyAB: a line per iteration.

Its seconds exclude the wait for data, which has a line of its own before it; the sum is the time of the iteration. The
printed images are those of one iteration times its number, so their quotient is the batch of an iteration, on all
devices and over all `subdivisions`. With several devices the number advances by more than one, and the images are
wrong. Other work between iterations, such as the mAP and saving the weights, is in neither time.
"""

from perfledger.parsers.contract import Fact, Format, Reading, carry, only, total

FORMAT = Format(
    title="Darknet",
    framework="Darknet",
    unproven=True,
    start="Learning Rate: {_}, Momentum: ",
    before_start=rb"^ *+(?:CUDA-version: |compute_capability = |net\.optimized_memory = |mini_batch = )",
    end="^If you want to train from the beginning, then use flag",
    readings=(
        Reading(
            "Loaded: {reader_seconds} seconds\n\n^{step}: {loss}, {_} avg{? loss}, {_} rate, {step_seconds} seconds, {_images} images",
            unit="images/s",
            span="step",
            verbs=(
                carry("reader_seconds"),
                # A log may begin after the wait for data of its first iteration.
                only("step", "reader_seconds"),
                lambda each: each.assign(batch=each["_images"] / each["step"]),
                total("step_seconds", "step_seconds", "reader_seconds"),
            ),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", "mini_batch = {_}, batch = {:int}, time_steps = "),
        Fact("gpu", rb"\bcudnn_half = [01], GPU: ([^\r\n,]++)"),
    ),
)
