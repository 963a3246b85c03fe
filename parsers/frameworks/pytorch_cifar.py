"""The bar of `pytorch-cifar` and its many copies (`[===>]  Step: 9ms | Tot: 9s585ms | Loss: ...`): a record per epoch.

`Tot` runs from the end of an epoch's first step on, and is printed with its two largest units, so that it is cut to seconds
from a minute on and to minutes from an hour on. `Step` is of the last step alone. The bar of the test looks alike: that of
training is the first after the line `Epoch: 3`. The samples that were seen are in the bar, and show the batch size well
enough to take off the first batch; where they do not, the steps count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perfledger.parsers.contract import Column, Columns, Format, Reading

#: Units of `Tot` in seconds, largest first.
_UNITS = {"_days": 86400.0, "_hours": 3600.0, "_minutes": 60.0, "_seconds": 1.0, "_milliseconds": 1e-3}
#: Units that a line prints.
_PRINTED = 2


def _epochs(columns: Columns) -> Columns:
    """Return the complete bars, with the samples and the seconds of all steps after the first."""
    columns = columns.assign(steps=np.fmax(columns["_of_in_bar"], columns["_of_behind"]))
    found = columns.take(np.isfinite(columns["steps"]))
    return found.assign(
        steps=found["steps"] - 1,
        samples=found["_seen"] - np.ceil(found["_seen"] / found["steps"]),
        duration=_seconds(np.stack([found[name] for name in _UNITS])),
    )


def _seconds(times: NDArray[np.float64]) -> Column:
    """Return n times of five units, with half of the smallest unit that is printed."""
    unit = np.array(list(_UNITS.values()))[:, None]
    printed = np.isfinite(times)
    cut = np.where(printed.sum(axis=0) < _PRINTED, unit[-1], np.where(printed, unit, np.inf).min(axis=0))
    return np.asarray(np.where(printed, times * unit, 0).sum(axis=0) + cut / 2)


#: The beginning of another epoch, or of an evaluation.
_ELSE = rb"[Ee]poch: |[Tt]est|[Vv]al"
_TIME = b"".join(
    rb"(?:(?P<%s>[0-9]++)%s)?+" % (name.encode(), unit)
    for name, unit in zip(_UNITS, (b"D", b"h", rb"m(?!s)", b"s", b"ms"), strict=True)
)

FORMAT = Format(
    title="pytorch-cifar",
    framework="PyTorch",
    unproven=True,
    start="==> Preparing data..",
    readings=(
        Reading(
            # An evaluation does not come between the line of the epoch and the bar.
            rb"(?<![^\n])(?:===> )?+Epoch: <epoch>(?:/[0-9]++)?+[ \t\r]*+\n(?:(?![^\n]*?(?: \| Tot: |" + _ELSE + rb"))[^\n]*+\n){0,9}+"
            # The first state shows how many steps there are; the complete one may be in a line of its own.
            rb"(?=[^\r\n]*? [0-9]++/(?P<_total>[0-9]++)(?!\S))(?:(?![^\n]*?(?:" + _ELSE + rb"| (?P=_total)/(?P=_total)(?!\S)))[^\n]*+\n){0,20000}+"
            rb"(?:[^\r\n]*+\r(?!\n))*+[^\r\n\[]*+\[[=>.]*+(?: (?P<_of_in_bar>(?P=_total))/(?P=_total) )?+[=>.]*+\] ++Step: ++[0-9a-zD]++ \| Tot: ++"
            + _TIME
            + rb"(?=\s)(?:(?:[^\r\nL]++|L(?!oss: ))*+Loss: <loss>(?=\s))?+(?:[^\r\n( ]++|\((?![0-9]++/[0-9]++\))| (?! *+[0-9]++/[0-9]))*+"
            rb"(?:\([0-9]++/(?P<_seen>[0-9]++)\))?+(?: ++(?P<_of_behind>(?P=_total))/(?P=_total)(?!\S))?+[^\r\n]*+(?=[\r\n])",
            unit="samples/s",
            span="epoch",
            verbs=(_epochs,),
        ),
    ),
)  # fmt: skip
