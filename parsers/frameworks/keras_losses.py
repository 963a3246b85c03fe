"""Keras with losses of a program's own names, such as those of a GAN: the bars of `fit` without a `loss`.

The program's own `train_step` returns the losses of the bar: `d_loss` and `g_loss`, `n_loss`. Everything else is as
Keras prints it: a record per epoch, from the first complete state of its bar. The line begins with a metric of any
name, so a line that also names `loss` is read only by the format of Keras.
"""

from perfledger.parsers.contract import Format
from perfledger.parsers.frameworks import TENSORFLOW, keras
from perfledger.parsers.frameworks.keras.epochs import epochs_in_steps

FORMAT = Format(
    title="Keras train_step",
    needs=b"s/step - ",
    framework="Keras",
    unproven=True,
    start=keras.FORMAT.start,
    before_start=keras.FORMAT.before_start,
    readings=(keras.reading(keras.PER_STEP, epochs_in_steps, shown=keras.OTHER_LOSSES),),
    facts=TENSORFLOW,
)  # fmt: skip
