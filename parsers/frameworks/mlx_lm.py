"""MLX's `mlx_lm.lora` and mlx-vlm: a line per reporting interval, with tokens per second of the whole job.

The tokens are those that count in the loss, of all machines; padding does not count. Releases since the middle of 2025
time the steps alone; before them the wait for data and the saving of adapters are counted as well. Validations are
outside of the time, but until then one that comes within an interval sets the timer anew, and not the tokens: the next
line counts ten steps over the seconds of the last one. Such a line looks like any other, so that the first behind a
validation is no record. The first validation is before the first step and does no harm, and neither does one behind the
line of its own step. `It/sec` divides the interval that was set even where the last one is shorter. A `GB` of `Peak
mem` was 2^30 bytes once. Releases since the autumn of 2026 print a table with whole tokens per second instead, and
mlx-vlm blocks of four metrics a line, which time the steps alone.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, NearMiss, Postprocessed, Reading, Sample, grouped, up_to


def _of_whole_intervals(columns: Columns) -> Postprocessed:
    """Return the lines of training, but for the first behind a validation that may have set its timer anew."""
    step, validated = columns["step"], np.isfinite(columns["_validation"])
    harmless = step <= 1
    # The first releases validate behind the line of the step.
    harmless[1:] |= ~validated[:-1] & (step[1:] == step[:-1])
    spoilt = np.zeros(len(step), dtype=np.bool_)
    spoilt[1:] = (validated & ~harmless)[:-1]
    rows = np.flatnonzero(~validated & ~spoilt)
    return rows, {name: columns[name][rows] for name in ("step", "loss", "throughput", "consumed")}


_BLOCK = rb"\bTraining \(iteration "
#: A row of the panel above the table.
_PANEL = rb"\bbatch \xc2\xb7 iters   "


FORMAT = Format(
    title="MLX LM",
    framework="MLX",
    marker=b"Iter ",
    start=rb"Starting training\.\.\., iter(?:ation)?s: |(?<=\n)  iter   train_loss     tok/s     tokens",
    before_start=rb"Loading (?:pretrained model|configuration file )|^Trainable parameters: ",
    end=rb"Saved final (?:adapter )?weights to ",
    readings=(
        Reading(
            rb"\bIter <step>: (?:Val loss (?P<_validation>[0-9.a-z]++), Val took |Train loss <loss>, (?:Learning Rate [-+.0-9e]++, )?+"
            rb"It/sec [0-9.]++, Tokens/sec <throughput>(?:, Trained Tokens <consumed>(?:, Peak mem [0-9.]++ GB)?+)?+(?=[\s,]))",
            unit="tokens/s",
            counts="update",
            postprocess=_of_whole_intervals,
        ),
        Reading(
            rb"(?<![^\r\n])  ++<step> {4} *+<loss> (?:\xe2\x96\xbc|\xe2\x96\xb2) {4} *+(?P<throughput>[0-9,]++) {4} *+[0-9.]++k(?=\s)",
            unit="tokens/s",
            marker=b" \xe2\x96",
            weak=True,
        ),
        Reading(
            _BLOCK + rb"<step>\):[ \t\r]*+\ntrain_loss=<loss>" + up_to(rb"(?<!\w)tokens_per_second=", _BLOCK, rb"[\s\S]") + rb"<throughput>(?=[,\s])",
            unit="tokens/s",
            marker=b"Training (iteration ",
            weak=True,
        ),
    ),
    facts=(
        Fact("model", rb"\xe2\x94\x82 {4}model {11}(?:[^\s/]++/)*+([\w.-]++) "),
        Fact("batch_size_of_job", _PANEL + rb"([0-9]++) \xc2\xb7 [0-9,]++ ", int),
        Fact("total_steps", _PANEL + rb"[0-9]++ \xc2\xb7 ([0-9,]++) ", grouped),
        Fact("total_steps", rb"Starting training\.\.\., iter(?:ation)?s: ([0-9]++)$", int),
        Fact("devices", rb"^Node [0-9]++ of ([0-9]++)$", int),
        Fact("model", rb"mlx_lm[._]lora (?:(?!--model)[^\n]){0,400}+--model[= ](?:[^\s/]++/)*+([\w.-]++)"),
    ),
    samples=(
        Sample(
            b"Iter 20: Train loss 2.125, Learning Rate 1.000e-05, It/sec 0.500, Tokens/sec 512.250, Trained Tokens 20480, Peak mem 8.500 GB\n",
            step=20, loss=2.125, throughput=512.25, consumed=20480,
        ),
        Sample(
            b"Iter 20: Train loss 2.125, Learning Rate 1.000e-05, It/sec 0.500, Tokens/sec 512.250, Trained Tokens 20480.0, Peak mem 8.500 GB, Grad Norm 0.25\n",
            step=20, loss=2.125, throughput=512.25, consumed=20480,
        ),
        Sample(b"Iter 20: Train loss 2.125, It/sec 0.500, Tokens/sec 512.250\n", step=20, loss=2.125, throughput=512.25),
        Sample("    20    2.125 ▼    1,512     30.2k\n".encode(), step=20, loss=2.125, throughput=1512),
        Sample("  10200    1.875 ▲      912    1024.5k\n".encode(), step=10200, loss=1.875, throughput=912),
        Sample(
            b"Training (iteration 20):\ntrain_loss=2.125, train_nll=2.125, train_num_tokens=40,960, train_num_processed_tokens=61,440\n"
            b"train_perplexity=8.3729, learning_rate=1e-05, iterations_per_second=2.5, tokens_per_second=1.024e+05\n"
            b"trained_tokens=81,920, peak_memory=8.5, processed_tokens_per_second=1.536e+05\n",
            step=20, loss=2.125, throughput=102_400,
        ),
        Sample(b"Iter 200: Val loss 1.875, Val took 20.500s\n", step=200, _validation=1.875),
        NearMiss(b"Iter 100: Saved adapter weights to adapters/adapters.safetensors and adapters/0000100_adapters.safetensors.\n", "a checkpoint"),
        NearMiss(b"Validation (iteration 200):\nval_loss=1.875, val_nll=1.875, val_perplexity=6.5208, val_time=20.5\n", "a validation"),
        NearMiss(b"Training (iteration 20):\ntrain_loss=2.125, iterations_per_second=2.5, tokens_per_second=1.024", "cut"),
        NearMiss(b"   200    val 1.875    20.50s\n", "a validation"),
        NearMiss("    20    2.125 ▼    1,512     30.2".encode(), "cut"),
        NearMiss(
            b"Iter 20: Train loss 2.125, Learning Rate 1.000e-05, It/sec 0.500, Tokens/sec 512.250, Trained Tokens 2048", "cut inside the number",
        ),
    ),
)  # fmt: skip
