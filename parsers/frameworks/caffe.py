"""Caffe and its forks (BVLC, NVIDIA, Intel, SSD): a line per `display` iterations, since 2016 with iterations per second.

Without a speed, the clocks of the lines count. The timer holds what a test or a snapshot before the line took. The
first line divides by nothing and after a resumption counts another number of iterations than it says. An iteration is
an update over `iter_size` batches. The batch size in the network is that of one device, in NVIDIA's fork that of all
devices, and is read where there is one device only.
"""

from parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, listed, up_to

_LINE = rb"\bsolver\.cpp:[0-9]++\] ++(?:\[[0-9.]++\] ++)?+Iteration <step>"
_PAUSES = (
    Pause("evaluation", rb", Testing net \(#", b"I1120 10:11:12.500000  4321 solver.cpp:330] Iteration 1000, Testing net (#0)"),
    Pause("checkpoint", rb"Snapshotting to ", b"I1120 10:11:12.500000  4321 solver.cpp:447] Snapshotting to binary proto file out_iter_1000.caffemodel"),
)  # fmt: skip

#: From one line of the head to a later one, in the text of one program; the network in training stands first.
_NET = rb"Initializing net from parameters: "
_DEVICE = rb"\] Us(?:ing GPUs|e CPU|e GPU with device ID)"
_ONE_DEVICE = _DEVICE + rb"(?: [0-9]++|\.)\r?\n" + up_to(_NET, _DEVICE, rb"[\s\S]")

FORMAT = Format(
    title="Caffe",
    framework="Caffe",
    marker=b"Iteration ",
    unproven=True,
    start=rb"\] Starting Optimization\b",
    before_start=rb"\] (?:Using GPUs [0-9]|Use CPU\.|Use GPU with device ID [0-9]|Initializing solver from parameters)",
    end=rb"\] Optimization Done\.",
    readings=(
        Reading(
            _LINE + rb" \((?![-n]|0 |\S*+e-[1-9][0-9])<steps_per_second> iter/s, [0-9.e+-]++s/[0-9]++ iters?\),(?: [0-9./]++ep,)?+ "
            rb"loss = <loss>(?=\s)",
            unit="images/s",
            counts="update",
            repeated=True,
            pauses=_PAUSES,
        ),
        Reading(
            rb"\bI(?P<clock>[0-9]{4} [0-9:.]++) ++[0-9]++ " + _LINE + rb", loss = <loss>(?=\s)",
            unit="images/s",
            counts="update",
            pauses=_PAUSES,
        ),
    ),
    facts=(
        Fact("model", _NET + rb'\r?\n(?:(?!name: )[^\n]*+\n){0,9}?name: "([^"\n]++)"'),
        Fact("devices", rb"caffe\.cpp:[0-9]++\] (Use CPU\.|Use GPU with device ID [0-9])", lambda _: 1),
        Fact("devices", rb"\] Using GPUs ([0-9]++(?:, ?+[0-9]++)*+)$", listed),
        Fact("batch_size", _ONE_DEVICE + up_to(rb"\bbatch_size: ", _NET, rb"[\s\S]") + rb"([0-9]++)\b", int),
        Fact("accumulation", rb"^iter_size: ([0-9]++)$", int),
        # Only what the solver's file states is printed.
        Fact("accumulation", rb"\] Initializing solver from parameters: ?+\r?\n()(?:(?![IWEF][0-9]{4} |iter_size: )[^\n]*+\n){1,99}+[IWEF][0-9]{4} ", lambda _: 1),
        Fact("total_steps", rb"^max_iter: ([0-9]++)$", int),
        Fact("gpu", rb"\] GPU [0-9]++: ([^\r\n]++)$"),
    ),
    samples=(
        Sample(
            b"I1120 10:11:12.500000  4321 solver.cpp:218] Iteration 300 (12.5 iter/s, 8s/100 iters), loss = 6.25\n",
            step=300, steps_per_second=12.5, loss=6.25,
        ),
        Sample(
            b"I1120 10:11:12.500000  4321 solver.cpp:333]     [0.0] Iteration 300 (12.5 iter/s, 8s/100 iter), loss = 6.25\n",
            step=300, steps_per_second=12.5,
        ),
        Sample(
            b"I1120 10:11:12.500000  4321 solver.cpp:290] Iteration 300 (12.5 iter/s, 8s/100 iter), 0.3/90ep, loss = 6.25\n",
            step=300, steps_per_second=12.5,
        ),
        Sample(b"I1120 10:11:12.500000  4321 solver.cpp:228] Iteration 300, loss = 6.25\n", step=300, loss=6.25),
        NearMiss(b"I1120 10:11:12.500000  4321 solver.cpp:218] Iteration 0 (0 iter/s, 0.5s/100 iters), loss = 6.25\n", "the first line"),
        NearMiss(b"I1120 10:11:12.500000  4321 solver.cpp:218] Iteration 0 (-1.4013e-45 iter/s, 0.5s/100 iters), loss = 6.25\n", "the first line"),
        NearMiss(b"I1120 10:11:12.500000  4321 sgd_solver.cpp:105] Iteration 300, lr = 0.01\n", "the learning rate"),
        NearMiss(b"I1120 10:11:12.500000  4321 solver.cpp:218] Iteration 300 (12.5 iter/s, 8s/100 iters), loss = 6.2", "cut inside the number"),
    ),
)  # fmt: skip
