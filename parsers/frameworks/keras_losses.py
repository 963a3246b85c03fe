"""Keras with losses of a program's own names, such as those of a GAN: the bars of `fit` without a `loss`.

A `train_step` of one's own returns what the bar shows: `d_loss` and `g_loss`, `n_loss`. Everything else is as Keras
prints it: a record per epoch, from the first complete state of its bar. What is printed begins with a metric, whatever
its name, so that a line that names `loss` as well is read as Keras alone.
"""

from perfledger.parsers.contract import Format, NearMiss, Sample
from perfledger.parsers.frameworks import keras

FORMAT = Format(
    title="Keras train_step",
    framework="Keras",
    marker=b"s/step - ",
    unproven=True,
    start=keras.FORMAT.start,
    before_start=keras.FORMAT.before_start,
    readings=(keras.reading(keras.PER_STEP, keras.epochs_in_steps, shown=keras.OTHER_LOSSES),),
    facts=keras.DEVICES,
    samples=(
        Sample(
            b"100/100 [==============================] - 12s 120ms/step - d_loss: 0.5000 - g_loss: 1.2500\n",
            steps=100, duration=12, _milliseconds=120,
        ),
        Sample(
            b"\r100/100 \xe2\x94\x81\xe2\x94\x81\xe2\x94\x81 12s 120ms/step - i_loss: 0.5000 - n_loss: 0.7500\n",
            steps=100, duration=12, _milliseconds=120,
        ),
        NearMiss(b"100/100 [==============================] - ETA: 0s - d_loss: 0.5000 - g_loss: 1.2500\n", "not yet complete"),
        NearMiss(b"100/100 [==============================] - 1s 3ms/step\n", "the bar of a prediction"),
        NearMiss(b"100/100 [==============================] - 12s 120ms/step - d_loss: 0.50", "cut inside the loss, perhaps"),
    ),
)  # fmt: skip
