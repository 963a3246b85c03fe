"""CNTK, Microsoft's toolkit until 2019: a line per epoch from Python, one per so many minibatches from BrainScript.

Samples and seconds are those of all workers; of sequences a sample is one of their elements. BrainScript's lines of
minibatches leave out what stands between two epochs; its line of an epoch holds the wait for the first of them.
Evaluations print lines of their own, with their own seconds.
"""

from parsers.contract import Fact, Format, NearMiss, Reading, Sample, up_to

_LOSS = rb"\w++ = <loss> \* (?P<samples>[0-9]++)"
_BEGINS = rb"Training [0-9]++ parameters in [0-9]++ (?:out of [0-9]++ )?+parameter tensors"

FORMAT = Format(
    title="CNTK",
    framework="CNTK",
    marker=b"Epoch[",
    unproven=True,
    # A trainer prints it, and what reports its progress prints it again.
    start=_BEGINS + rb"(?:[^\n]*+\n[^\n]{0,60}?" + _BEGINS + rb")*+",
    readings=(
        Reading(
            rb"Finished Epoch\[ *+<epoch> of <total_epochs>\]: \[\w{0,20}?Training\] " + _LOSS
            + rb", (?:metric = [-+.0-9a-z]++%?+ \* [0-9]++ )?+<duration>s \( *+<throughput> samples/s\)",
            unit="samples/s",
            span="epoch",
            marker=b" samples/s)",
        ),
        Reading(
            rb"Epoch\[ *+<epoch> of <total_epochs>\]-Minibatch\[ *+[0-9]++- *+<step>(?:, *+[0-9.]++%)?+\]: " + _LOSS
            + rb";" + up_to(rb" time = ", rb"-Minibatch\[") + rb"<duration>s; samplesPerSecond = <throughput>(?=\s)",
            unit="samples/s",
            marker=b"samplesPerSecond = ",
        ),
        Reading(
            rb"Finished Epoch\[ *+<epoch> of <total_epochs>\]: \[Training\] " + _LOSS
            + rb";" + up_to(rb" epochTime=", rb"Finished Epoch\[") + rb"<duration>s(?=\s)",
            unit="samples/s",
            span="epoch",
            marker=b" epochTime=",
        ),
    ),
    facts=(Fact("devices", rb"\bParallel training \(([0-9]++) workers\)", int),),
    samples=(
        Sample(
            b"Finished Epoch[3 of 40]: [Training] loss = 0.250000 * 60000, metric = 3.09% * 60000 3.750s (16000.0 samples/s);\n",
            epoch=3, total_epochs=40, loss=0.25, samples=60000, duration=3.75, throughput=16000,
        ),
        Sample(
            b"Finished Epoch[1 of 15]: [Training] loss = 2.500000 * 41, metric = 68.29% * 41 8.200s (  5.0 samples/s);\n",
            samples=41, throughput=5,
        ),
        Sample(
            b"05/13/2016 08:16:41:  Epoch[ 1 of 160]-Minibatch[ 101- 200, 25.58%]: CE = 1.87500000 * 12800; Errs = 69.320% * 12800; "
            b"time = 2.5000s; samplesPerSecond = 5120.0\n",
            epoch=1, step=200, samples=12800, duration=2.5, throughput=5120,
        ),
        Sample(
            b"Finished Epoch[ 2 of 160]: [Training] CE = 1.50000000 * 50000; Errs = 50.250% * 50000; totalSamplesSeen = 100000; "
            b"learningRatePerSample = 0.0078125; epochTime=12.5s\n",
            epoch=2, samples=50000, duration=12.5,
        ),
        NearMiss(b"Finished Evaluation [3]: Minibatch[1-11]: metric = 0.54% * 10000\n", "an evaluation"),
        NearMiss(b"Finished Epoch[ 2 of 160]: [Validate] CE = 1.500 * 10000; Errs = 50.250% * 10000\n", "a validation"),
        NearMiss(b"Finished Epoch[3 of 40]: [Training] loss = 0.250000 * 60000, metric = 3.09% * 60000 3.750s (1600", "cut inside the number"),
    ),
)  # fmt: skip
