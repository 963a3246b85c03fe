"""MLX's `mlx_lm.lora` and mlx-vlm: a line per reporting interval, with tokens per second of the whole job.

The tokens are those that count in the loss, of all machines; padding does not count. Releases since the middle of 2025
time the steps alone; before them the wait for data and the saving of adapters are counted as well. Validations are
outside of the time, but until then one that comes within an interval restarts the timer, and not the tokens: the next
line counts ten steps over the seconds of the last one. Such a line looks like any other, so the first one after a
validation is left out. The first validation is before the first step and does no harm, and neither does one after the
line of its own step. `It/sec` divides the interval that was set, even if the last one is shorter. A `GB` of `Peak mem`
was 2^30 bytes once. Releases since the autumn of 2026 print a table with whole tokens per second instead, and mlx-vlm
blocks of four metrics a line, which time the steps alone.
"""

from __future__ import annotations

import numpy as np

from perfledger.parsers.contract import Columns, Fact, Format, Reading, grouped


def _of_whole_intervals(columns: Columns) -> Columns:
    """Drop validations, and the first line of training after one that may have restarted its timer."""
    step, validated = columns["step"], np.isfinite(columns["_validation"])
    harmless = step <= 1
    # The first releases validate after the line of the step.
    harmless[1:] |= ~validated[:-1] & (step[1:] == step[:-1])
    spoilt = np.zeros(len(step), dtype=np.bool_)
    spoilt[1:] = (validated & ~harmless)[:-1]
    return columns.take(~validated & ~spoilt)


#: A row of the panel above the table.
_PANEL = rb"\bbatch \xc2\xb7 iters   "


FORMAT = Format(
    title="MLX LM",
    framework="MLX",
    needs=b"Iter ",
    start=rb"Starting training\.\.\., iter(?:ation)?s: |(?<=\n)  iter   train_loss     tok/s     tokens",
    before_start=rb"Loading (?:pretrained model|configuration file )|^Trainable parameters: ",
    end="Saved final {?adapter }weights to ",
    readings=(
        Reading(
            rb"\bIter <step>: (?:Val loss (?P<_validation>[0-9.a-z]++), Val took |Train loss <loss>, (?:Learning Rate [-+.0-9e]++, )?+"
            rb"It/sec [0-9.]++, Tokens/sec <throughput>(?:, Trained Tokens <consumed>)?+(?=[\s,]))",
            unit="tokens/s",
            per_update=True,
            verbs=(_of_whole_intervals,),
        ),
        Reading("^  {step}  {loss} {▼|▲}  {throughput:,}  {_}k", unit="tokens/s", weak=True),
        Reading(
            "Training (iteration {step}):\ntrain_loss={loss},{*}\n{*}, tokens_per_second={throughput}",
            unit="tokens/s",
            weak=True,
        ),
    ),
    facts=(
        Fact("model", rb"\xe2\x94\x82 {4}model {11}(?:[^\s/]++/)*+([\w.-]++) "),
        Fact("batch_size_of_job", _PANEL + rb"([0-9]++) \xc2\xb7 [0-9,]++ ", int),
        Fact("total_steps", _PANEL + rb"[0-9]++ \xc2\xb7 ([0-9,]++) ", grouped),
        Fact("total_steps", "Starting training..., iter{?ation}s: {:int}"),
        Fact("devices", "^Node {_} of {:int}$"),
        Fact("model", rb"mlx_lm[._]lora (?:(?!--model)[^\n]){0,400}+--model[= ](?:[^\s/]++/)*+([\w.-]++)"),
    ),
)  # fmt: skip
