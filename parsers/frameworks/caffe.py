"""Caffe (`caffe train`) and its forks: a line per `display` iterations.

The rate is that of the iterations since the line before, with the wait for data, tests and snapshots, each of which has a
line of its own. Until 2016 no rate was printed, and the clocks of the lines tell the speed. An iteration is an update over
`iter_size` batches. The first `batch_size` is that of the network in training; on several devices it is that of each, or
in NVIDIA's fork of all, so that nothing is stated of them.
"""

from parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, up_to

_HEAD = rb"[IWE][0-9]{4} (?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}) ++[0-9]++ solver\.cpp:[0-9]++\] Iteration "
_PAUSES = (
    Pause(
        "evaluation",
        rb", Testing net \(#",
        b"I1120 14:42:46.600472 16998 solver.cpp:347] Iteration 500, Testing net (#0)",
    ),
    Pause(
        "checkpoint",
        rb"Snapshotting to ",
        b"I1120 14:42:46.600472 16998 solver.cpp:464] Snapshotting to binary proto file lenet_iter_500.caffemodel",
    ),
)
_SOLVER = rb"\bInitializing solver from parameters: *+\n(?:(?![IWE][0-9]{4} |%s: )[^\n]*+\n){0,300}+"

FORMAT = Format(
    title="Caffe",
    framework="Caffe",
    marker=b"] Iteration ",
    start=rb"\bInitializing solver from parameters:",
    before_start=rb"caffe\.cpp:[0-9]++\] (?:Use CPU|Using GPUs )",
    end=rb"\] Optimization Done\.",
    readings=(
        Reading(
            # No iterations stand before the first line.
            _HEAD + rb"(?!0 )<step> \((?!0 )(?P<steps_per_second>[0-9.e+]++) iter/s, [0-9.e+-]++s/[0-9]++ iters?\), loss = <loss>(?=\s)",
            unit="samples/s", counts="update", pauses=_PAUSES,
        ),
        Reading(_HEAD + rb"<step>, loss = <loss>(?=\s)", unit="samples/s", counts="update", pauses=_PAUSES),
    ),
    facts=(
        Fact("model", rb'\bInitializing net from parameters: *+\nname: "([^"\n]++)"'),
        Fact("batch_size", rb"\bInitializing net from parameters:" + up_to(rb"\bbatch_size: ", rb"Initializing net|Creating test net", rb"[\s\S]") + rb"([0-9]++)", int),
        Fact("accumulation", _SOLVER % rb"iter_size" + rb"iter_size: ([0-9]++)", int),
        Fact("accumulation", _SOLVER % rb"iter_size" + rb"([IWE])[0-9]{4} ", lambda _: 1),
        Fact("total_steps", _SOLVER % rb"max_iter" + rb"max_iter: ([0-9]++)", int),
        Fact("devices", rb"caffe\.cpp:[0-9]++\] (Use CPU|Using GPUs [0-9]++)(?![0-9,])", lambda _: 1),
    ),
    samples=(
        Sample(
            b"I1120 14:42:56.596632 16998 solver.cpp:239] Iteration 100 (16.5 iter/s, 6.0606s/100 iters), loss = 0.1875\n",
            step=100, steps_per_second=16.5, loss=0.1875,
        ),
        Sample(b"I1120 14:42:56.596632  4259 solver.cpp:228] Iteration 200, loss = 0.1875\n", step=200, loss=0.1875),
        NearMiss(b"I1120 14:42:50.509238 16998 solver.cpp:239] Iteration 0 (-1.02432e-37 iter/s, 3.909s/100 iters), loss = 2.25\n", "the first iteration"),
        NearMiss(b"I1120 14:42:50.509238 16998 solver.cpp:239] Iteration 500 (0 iter/s, 3.909s/100 iters), loss = 2.25\n", "the first iteration"),
        NearMiss(b"I1120 14:42:56.596683 16998 sgd_solver.cpp:112] Iteration 100, lr = 0.00992565\n", "the learning rate"),
        NearMiss(b"I1120 14:42:46.600472 16998 solver.cpp:347] Iteration 500, Testing net (#0)\n", "an evaluation"),
        NearMiss(b"I1120 14:42:56.596632 16998 solver.cpp:239] Iteration 100 (16.5 iter/s, 6.0606s/100 iters), loss = 0.18", "cut"),
    ),
)  # fmt: skip
