"""Keras (`fit` with its own bar, or with `verbose=2`): a record per epoch, from the first complete state of its bar.

Steps are printed, not samples, so the batch size must be known. TensorFlow up to 2.1, and Keras before it, count
samples if the data are arrays: `Train on 60000 samples`, or `us/sample`. Keras by itself does not print this without a
validation. Then the first state of the bar shows the samples of one batch. If the log has neither, no figure is
computed, unless the time per count is too short for a step. Seconds are whole numbers: of an epoch's seconds and a
step's milliseconds, the number with more digits is used, and neither if both are below 5. `evaluate` and
`predict` draw the same bars, without `Epoch 1/10` before them. If the last state of an epoch includes its validation,
the option `validation` says so. From 2.2 on, the time of a step leaves out the first step of the epoch. That step
compiles in the first epoch, and waits for the loader in all others: there the seconds of the epoch bound those of its
steps.
With `verbose=2`, Keras by itself prints the seconds of an epoch alone; releases from 2.4 on up to Keras 3 print
`2s/epoch - 85ms/step` at the end of the line.
"""

from __future__ import annotations

from perfledger.parsers.contract import (
    Condition,
    Fact,
    Format,
    Reading,
    Scope,
    Verb,
    carry,
    lacks,
    says,
)
from perfledger.parsers.frameworks import TENSORFLOW, resnet_v1
from perfledger.parsers.frameworks.keras.epochs import (
    epochs_in_either,
    epochs_in_samples,
    epochs_in_seconds,
    epochs_in_steps,
)

#: `[=====]`, drawn lines of Keras 3, `=====` if the terminal lacks these characters, or nothing with `verbose=2`. A
#: state of Keras 3 before the last shows the seconds that are left, `0s`; they would hide those of the last.
_BAR = rb"(?:\[=*+\] |(?:\xe2[\x80-\xbf][\x80-\xbf])++ |=++ )?+(?:- )?+(?!0s [1-9][0-9]*+s/)"

#: The line of Keras by itself with `verbose=2`, without the steps.
_SECONDS = rb"(?:- )?+[0-9]++s - loss: "
#: Other programs print `Epoch 1/10` too: a bar must follow within some lines of warnings.
_BEGINS = (
    rb"(?=[ \t\r]*+\n(?:[^\n]*+\n){0,30}?[\r ]*+(?:[^\r\n]*+\r){0,3}?[\r ]*+(?:(?P<_first>[0-9]++)/[0-9]++ (?:\[[=>.]|\xe2\x94|==|- [0-9]++s)|"
    + _SECONDS
    + rb"))"
)

#: A part of a word of a bar. TensorFlow Recommenders names metrics `factorized_top_k/top_5`; a number before a slash
#: belongs to another bar.
_WORD = rb"[^\r\n/ ]++|(?<=[a-z_])/"
#: The values of a bar: from word to word up to the loss, and the accuracy before or after it.
_ACCURACY = (
    rb"(?:(?=(?:" + _WORD + rb"| (?!acc(?:uracy)?: ))*+ acc(?:: <_acc>|uracy: <accuracy>)(?=\s)))?+"
)  # fmt: skip
_TO_LOSS = rb"(?:" + _WORD + rb"| (?!loss: ))*+ loss: "
LOSS = _ACCURACY + _TO_LOSS + rb"<loss>(?=\s)(?=(?:" + _WORD + rb"| (?!val_loss: ))*+ val_loss: <_validation>(?=\s))?+"
#: The values of a bar if the program names its losses itself.
OTHER_LOSSES = (
    _ACCURACY + rb"(?!" + _TO_LOSS + rb")(?=(?:" + _WORD + rb"| (?!val_\w))*+ val_\w++: <_validation>(?=\s))?+"
    rb"(?: [A-Za-z_][\w./-]*+: [-+.0-9a-z]++(?=\s)(?: -(?= [A-Za-z_]))?+)++"
)  # fmt: skip


def reading(
    unit: bytes,
    verb: Verb,
    where: Condition | None = None,
    shown: bytes = LOSS,
    scope: Scope = "job",
) -> Reading:
    """Return the reading of lines that begin an epoch, and of complete bars with the values that they show."""
    return Reading(
        rb"(?m)^Epoch <epoch>/<total_epochs>" + _BEGINS + rb"|^Train on (?P<_dataset>[0-9]++) samples"
        rb"|(?<![0-9])(?P<steps>[0-9]++)/(?P=steps) (?:\[=*+\] - ETA: (?P<_left>[0-9]++)s[^\r\n]*+[\r\n ]++(?P=steps)/(?P=steps) )?+"
        + rb"(?:(?=\[=*+\] - (?P<_drawn>[0-9]++)s))?+" + _BAR + rb"(?P<duration>[0-9]++)s"
        + unit + rb" -" + shown + _BEHIND,
        unit="samples/s",
        scope=scope,
        span="epoch",
        ranks="own" if scope == "job" else "",
        weak=True,
        where=where,
        verbs=(carry("_dataset"), verb),
    )  # fmt: skip


#: The time of an epoch that is shorter than a second, and of a step, at the end of the line.
_BEHIND = (
    rb"(?=(?:"
    + _WORD
    + rb"| (?!- [0-9]++[mu]?s/epoch ))*+ - (?:(?P<_epoch_milliseconds>[0-9]++)ms|[0-9]++u?s)/epoch - "
    rb"(?:(?P<_milliseconds_behind>[0-9]++)ms|(?P<_microseconds_behind>[0-9]++)us)/step(?=\s))?+"
)


def _per(what: bytes) -> bytes:
    return rb" (?:- )?+(?:(?P<_milliseconds>[0-9]++)ms|(?P<_microseconds>[0-9]++)us|[0-9]++s)/" + what


PER_STEP = rb"(?:" + _per(rb"step") + rb")?+"
#: The first line of Keras when it was a package apart from TensorFlow.
_BACKEND = rb"^Using (?:TensorFlow|Theano|CNTK|PlaidML|MXNet) backend"
#: Signs of several processes, as with Horovod: they name several first devices, or begin an epoch one after the other.
_FIRST_DEVICE = rb"(?i:gpu):0(?: with |\) ?+->)"
_SEVERAL = (
    rb"(?:\A(?:(?!" + _FIRST_DEVICE + rb")[\s\S])*+" + _FIRST_DEVICE + rb"[^\n]*?\b(?P<_one>device: [0-9][^\n]*+)\n"
    rb"[\s\S]*?" + _FIRST_DEVICE + rb"[^\n]*?\b(?!(?P=_one)\n)device: [0-9]"
    rb"|^Train on (?P<_count>[0-9]++) samples[^\n]*+\n(?:(?!Epoch )[^\n]*+\n){0,20}?Train on (?P=_count) samples"
    rb"|^Epoch 1/(?P<_total>[0-9]++)[ \t\r]*+\nEpoch 1/(?P=_total)\s)"
)  # fmt: skip

#: A complete state of the bar, up to its seconds; the name is that of the group with the count.
_COMPLETE = rb"(?<![0-9])(?P<%s>[0-9]++)/(?P=%s) " + _BAR + rb"[0-9]++s "

#: YOLOv3 in Keras prints this when it begins, and again when it unfreezes the network and takes smaller batches.
_STAGE = rb"^Train on [0-9]++ samples, val on [0-9]++ samples, with batch size "

#: Mask R-CNN prints this when it continues with more layers, or with the epochs of an earlier program.
_GOES_ON = rb"^Starting at epoch [1-9][0-9]*+\. LR="


def _of_processes(where: Condition, scope: Scope) -> tuple[Reading, ...]:
    """Return the readings of the bars of one process or of several, as their condition says."""
    return (
        reading(PER_STEP, epochs_in_steps, where & lacks(_BACKEND), scope=scope),
        reading(PER_STEP, epochs_in_either, where & says(_BACKEND), scope=scope),
        reading(_per(rb"sample"), epochs_in_samples, where, scope=scope),
    )


FORMAT = Format(
    title="Keras",
    framework="Keras",
    over=("frameworks.keras_losses",),
    # Processes without tags begin an epoch one after the other.
    start=rb"(?m)^(?:Train on [0-9]++ samples[^\n]*+\n(?:(?!Epoch )[^\n]*+\n){0,20}+)?+Epoch 1/[0-9]++(?:[ \t\r]*+\nEpoch 1/[0-9]++(?=\s)){0,64}+" + _BEGINS
    + rb"|" + _STAGE + rb"|" + _GOES_ON,
    before_start=rb'^Model: "|^Configurations:$|' + _BACKEND + rb'|Creating TensorFlow device|Created (?:TensorFlow )?device',
    readings=(
        *_of_processes(lacks(_SEVERAL), "job"),
        # Each of several processes counts its own samples.
        *_of_processes(says(_SEVERAL), "device"),
        Reading(
            rb"(?m)^Epoch <epoch>/<total_epochs>(?=[ \t\r]*+\n(?:(?!Epoch )[^\n]*+\n){0,30}? ?+" + _SECONDS + rb")"
            rb"|^Train on (?P<_dataset>[0-9]++) samples|^ ?+(?:- )?+(?P<duration>[0-9]++)s - loss: <loss>(?=\s)",
            unit="samples/s",
            span="epoch",
            weak=True,
            verbs=(epochs_in_seconds,),
        ),
    ),
    facts=(
        Fact("model", rb'^Model: "resnet(\d++)"', resnet_v1),
        Fact("model", rb'^Model: "(?!sequential|functional|model)([\w.+-]++)"'),
        *TENSORFLOW,
        Fact("batch_size_of_job", _STAGE + rb"([0-9]++)\.", int),
        # The configuration of Mask R-CNN.
        Fact("devices", rb"^GPU_COUNT ++([0-9]++)$", int),
        Fact("batch_size", rb"^IMAGES_PER_GPU ++([0-9]++)$", int),
        Fact(
            "validation",
            rb"^()Epoch \d++/\d++[ \t\r]*+\n(?:(?!Epoch \d++/|[^\r\n]*?" + _COMPLETE % (b"a", b"a") + rb")[^\r\n]*+[\r\n]++)*+"
            rb"(?!Epoch \d++/)[^\r\n]*?" + _COMPLETE % (b"b", b"b")
            + rb"(?:(?:- )?+[0-9]++[mu]?s/\w++ )?+-(?:" + _WORD + rb"| (?!val_))*+ val_",
            lambda _: "included",
        ),
        Fact(
            "validation",
            rb"^()Epoch [0-9]++/[0-9]++[ \t\r]*+\n(?:(?!Epoch )[^\n]*+\n){0,30}? ?+" + _SECONDS + rb"(?:[^\r\n ]++| (?!val_))*+ val_",
            lambda _: "included",
        ),
    ),
)  # fmt: skip
