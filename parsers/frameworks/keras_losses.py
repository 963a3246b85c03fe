"""Keras with losses of a program's own names, such as those of a GAN: the bars of `fit` without a `loss`.

A `train_step` of one's own returns what the bar shows: `d_loss` and `g_loss`, `n_loss`. Everything else is as Keras
prints it: a record per epoch, from the first complete state of its bar. What is printed begins with a metric, whatever
its name, so that a line that names `loss` as well is read as Keras alone.
"""

from perfledger.parsers.contract import Format
from perfledger.parsers.frameworks import keras
from perfledger.parsers.frameworks.keras.epochs import epochs_in_steps

FORMAT = Format(
    title="Keras train_step",
    framework="Keras",
    unproven=True,
    start=keras.FORMAT.start,
    before_start=keras.FORMAT.before_start,
    readings=(keras.reading(keras.PER_STEP, epochs_in_steps, shown=keras.OTHER_LOSSES),),
    facts=keras.DEVICES,
)  # fmt: skip
