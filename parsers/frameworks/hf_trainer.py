"""Hugging Face Trainer (`transformers`, and TRL over it): a summary at the end, losses during training, and tqdm's bar.

`train_samples_per_second` of the summary is the throughput of the job over the whole run, including evaluation and
saving; for a resumed run it counts what was trained before as well, and is too high. Every node prints the summary, and
a table may follow; they count once. During training only the bar tells the time: seconds per optimiser step, which tqdm
smooths over the last few steps, so a record is not the time of a single step. A slow start shows in the first dozen of
them, and a resumption in the first thirty: these are no records. The bars of evaluations have the same form and
interrupt it; those of tokenising and loading begin with a name. Later versions print numbers in quotes. Before 4.7
(2021) the summary has no `train_steps_per_second`, and its `train_samples_per_second` are optimiser steps per second.
After a resumption `train_loss` is the sum of the losses since then divided by the steps of the whole run, which shows
the resumption. Unsloth prints a banner of its own in place of the head, on every rank; the devices that it counts are
those of one process, or copies of the model. LLaMA-Factory's console prints `throughput` as well, tokens per second
since the start with everything in it.
"""

from __future__ import annotations

import numpy as np

from parsers.contract import NUMBER, Column, Columns, Fact, Format, NearMiss, Pause, Reading, Rows, Sample, grouped
from parsers.frameworks import PYTORCH_JOB

#: Nodes that print side by side may differ by so many steps.
_LAG = 3
#: From a line of one bar to that of another, a step seems to take at least so many times the usual seconds.
_JUMP = 3.0
#: What tqdm keeps of its mean with each update; a start is slow if it takes so many times the usual seconds, and shows
#: as long as it adds this share to them, or, where a resumption leaves few records, that one.
_KEPT, _SLOW, _SHOWN, _SHOWN_OF_FEW = 0.7, 1.5, 0.01, 0.05
#: Records that tell of a resumption; and that are enough without those that show how a bar began.
_FEW, _ENOUGH = 3, 10


def _bar_of_training(columns: Columns) -> tuple[Rows, Columns]:
    """Return one row per step of the bar of optimiser steps; the median where several nodes print it.

    Where another program draws it anew, every line is a row, and the steps count from 1 again.
    """
    if "step" not in columns:
        return np.empty(0, np.intp), {}
    seconds = np.where(np.isfinite(columns["step_seconds"]), columns["step_seconds"], 1.0 / columns["steps_per_second"])
    stated = columns["_stated_total"][np.isfinite(columns["_stated_total"])]
    drawn = np.flatnonzero((seconds > 0) & (columns["step"] < columns["_total"]))
    steps, totals, elapsed = (columns[name][drawn] for name in ("step", "_total", "clock"))
    of_total = np.flatnonzero(totals == (stated[0] if len(stated) else _total(steps, totals, elapsed)))
    end = stated[0] - _LAG if len(stated) == 1 else np.inf
    kept = of_total[_uninterrupted(steps[of_total], elapsed[of_total], float(end))]
    rows, steps, elapsed = drawn[kept], steps[kept], elapsed[kept]
    lag = max(_LAG, 0.1 * steps.max(initial=0.0))
    anew = np.flatnonzero((np.diff(steps) < -lag) | (elapsed[1:] < 0.5 * elapsed[:-1] - _LAG)) + 1
    # The bars of several nodes may stand one after another; each node states the total.
    if len(anew) >= max(1, len(stated)):
        for row in anew:
            steps[row:] += 1 - steps[row]
        return rows, {"step": steps, "step_seconds": seconds[rows]}
    steps, first, group = np.unique(steps, return_index=True, return_inverse=True)
    taken = np.array([float(np.median(seconds[rows][group == each])) for each in range(len(steps))])
    warm = _warmed_up(steps, taken, elapsed[first])
    return rows[first][warm:], {"step": steps[warm:], "step_seconds": taken[warm:]}


def _warmed_up(steps: Column, seconds: Column, elapsed: Column) -> int:
    """Return the first record whose smoothed speed no longer shows how the bar began.

    With each update that it draws tqdm takes three tenths of the new seconds and seven of its mean, which it divides by
    the weights so far; it draws ten updates in a second at most. The first update may be slow, and that of a resumed run
    counts all steps before it, in no time.
    """
    if len(steps) < _FEW:
        return 0
    pace, usual = (elapsed[-1] - elapsed[0]) / (steps[-1] - steps[0]), float(np.median(seconds[len(seconds) // 2 :]))
    resumed = seconds[0] * _SLOW <= pace and elapsed[0] * _SLOW <= steps[0] * pace
    if not resumed and not (len(steps) > _ENOUGH and seconds[0] >= _SLOW * usual):
        return 0
    begun, excess = (1.0, steps[0] - 1) if resumed else (steps[0], seconds[0] / usual - 1)
    since = np.minimum(steps - steps[0], 10 * (elapsed - elapsed[0] + 1))
    shown = excess * _KEPT**since * (1 - _KEPT**begun) / (1 - _KEPT ** (begun + since))
    early = int((shown > _SHOWN).sum())
    if len(steps) - early >= _ENOUGH:
        return early
    return int((shown > _SHOWN_OF_FEW).sum()) if resumed else 0


def _total(steps: Column, totals: Column, elapsed: Column) -> float:
    """Return what the bar of training counts up to, where nothing states it.

    Training goes on where an evaluation interrupted it, and the next evaluation begins at its first batch again. It
    begins before the first evaluation, and it may take less time than that; else it is the bar that lasted longest.
    """

    def unlikely(total: float) -> tuple[int, bool, float]:
        own = np.flatnonzero(totals == total)
        is_first = own[0] == 0 and steps[0] == 1
        return int((np.diff(steps[own]) < -_LAG).sum()), not is_first, -float(elapsed[own].max())

    return min(np.unique(totals).tolist(), key=unlikely, default=float("nan"))


def _uninterrupted(steps: Column, elapsed: Column, end: float) -> Rows:
    """Return the lines of a bar without those of an evaluation that has as many steps.

    Its bar begins within that of training, which goes on with the next step behind it. A bar that reaches that step by
    itself is of another program. Where one program stated its length, no training begins behind the step `end`.
    """
    kept = np.ones(len(steps), dtype=np.bool_)
    with np.errstate(all="ignore"):  # A line may be drawn twice.
        pace = np.diff(elapsed, prepend=0.0) / np.diff(steps, prepend=0.0)
    for row in np.flatnonzero(np.diff(steps) < -_LAG) + 1:
        if not kept[row - 1]:
            continue
        if steps[row - 1] >= end:
            kept[row:] = False
            break
        goes_on = (np.abs(steps[row:] - steps[row - 1]) <= 1) & (elapsed[row:] >= elapsed[row - 1])
        behind = row + int(np.argmax(goes_on))
        usual = elapsed[behind - 1] / steps[behind - 1]
        if goes_on.any() and not 0 < pace[behind] < _JUMP * usual:
            kept[row:behind] = False
    return np.flatnonzero(kept)


#: `2.5` or `'2.5'`, as a column.
_VALUE = rb"'?+(?P<%s>" + NUMBER + rb")'?+"
_AHEAD = rb"(?:(?!'train_|'epoch': )[^{}\r\n])*+"
#: The epoch that the run came to, in its summary, whose speeds count the steps that were planned. Tokens may follow.
_LAST_EPOCH = rb"(?:[^{}\r\n]*?'epoch': " + _VALUE % b"epoch" + rb"(?=[,}]))?+"
_MEAN_LOSS = rb"(?:'?+[0-9.e+-]++'?+, 'train_loss': " + _VALUE % b"mean_loss" + rb"(?=[,}]))?+"

#: Unsloth's banner before training; the one before it, of the model, is alike but for the words behind its name.
_UNSLOTH = rb"==\(\(====\)\)==  Unsloth - [^|\r\n]{0,80}+\| Num GPUs (?:used )?+= "
#: In its banner `Num GPUs used` are those of a process: one, unless the model is spread over several.
_TO_COPIES = rb"(?:(?!Data Parallel GPUs = |Unsloth)[\s\S]){0,1000}+Data Parallel GPUs = "


def _once(banner: bytes) -> bytes:
    """Return the pattern of a banner, which every node prints before any of them takes a step: one start."""
    return banner + rb"(?:(?:(?![0-9]it/s|[0-9]s/it|\{'loss': )[\s\S]){0,60000}?" + banner + rb")*+"


FORMAT = Format(
    title="Hugging Face Trainer",
    framework="PyTorch",
    marker=b"'epoch': ",
    start=_once(rb"\*{5} Running training \*{5}") + rb"|" + _once(_UNSLOTH),
    before_start=rb"^python[\d.]*+ |Training/evaluation parameters |^(?:Seq2Seq)?TrainingArguments\(|Process rank: -?+[0-9]"
    rb"|loading configuration file |\[WARNING\|logging\.py",
    end=rb"\{'train_runtime': |Training completed\. Do not forget to share",
    readings=(
        Reading(
            rb"(?<![^\r\n]) *+[0-9]++%\|[^|\r\n]{0,400}+\| (?P<step>[1-9][0-9]*+)/(?!(?P=step) )(?P<_total>[0-9]++) \[(?P<elapsed>[0-9:]++)<[0-9:?]++, ++"
            rb"(?:(?P<step_seconds>[0-9.]++)s/it|(?P<steps_per_second>[0-9.]++)it/s)(?=[\],])|"
            rb"(?:Total optimization|\| Total) steps = (?P<_stated_total>[0-9,]++)(?=\s)",
            unit="samples/s",
            counts="update",
            weak=True,
            pauses=(
                Pause(
                    "evaluation",
                    rb"'eval_runtime': ",
                    b"{'eval_loss': 2.25, 'eval_runtime': 12.5, 'eval_samples_per_second': 80.5, 'epoch': 1.0}",
                ),
                Pause("evaluation", rb"\*\*\*\*\* Running Evaluation", b"[INFO|trainer.py:2115] >> ***** Running Evaluation *****"),
                Pause(
                    "checkpoint",
                    rb"Saving model checkpoint to ",
                    b"[INFO|trainer.py:1885] 2026-11-20 09:00:00,123 >> Saving model checkpoint to out/checkpoint-500",
                ),
            ),
            lingers=12,
            postprocess=_bar_of_training,
        ),
        Reading(
            rb"\{'train_runtime': " + _VALUE % b"seconds" + rb", 'train_samples_per_second': " + _VALUE % b"throughput"
            + rb", 'train_steps_per_second': " + _MEAN_LOSS + _LAST_EPOCH,
            unit="samples/s",
            span="run",
        ),
        Reading(
            rb"\{'train_runtime': <seconds>, 'train_samples_per_second': <steps_per_second>(?=\}|, '(?!train_)\w++': )" + _LAST_EPOCH,
            unit="samples/s",
            span="run",
            counts="update",
        ),
        Reading(
            rb"(?<=\s)train_samples_per_second ++= ++<throughput>(?=\s)[^\n=]*+\n[^\n]*?\btrain_steps_per_second ++=",
            unit="samples/s", span="run", weak=True,
        ),
        # LLaMA-Factory's mean since the start, with everything in it.
        Reading(
            rb"\{'loss': [0-9.einaf]++, 'learning_rate': [0-9.e+-]++, 'epoch': [0-9.]++, (?:'(?!throughput)\w++': [-+.0-9einaf]++, )*+'throughput': <throughput>\}",
            unit="tokens/s", span="run", weak=True,
        ),
        Reading(rb"\{'loss': " + _VALUE % b"loss" + rb", " + _AHEAD + rb"'epoch': " + _VALUE % b"epoch" + rb"[,}]"),
    ),
    facts=(
        # PaddleNLP's Trainer began as a copy, and printed its losses and its bar.
        Fact("framework", rb"\] \[ *+INFO\] - \*{5} (Running training) \*{5}", lambda _: "PaddlePaddle"),
        Fact("model", rb"--model_name_or_path[= ]'?+([\w./-]++)"),
        Fact("model", rb"loading configuration file https://huggingface\.co/([\w./-]+?)/resolve/"),
        Fact("model", rb'"_name_or_path": "([\w./-]++)"'),
        Fact("model", rb"--model_type[= ]([\w-]++)"),
        Fact("model", rb'^ *+"model_type": "([\w-]++)"'),
        Fact("batch_size", rb"Instantaneous batch size per device = ([0-9,]++)", grouped),
        Fact("batch_size_of_job", rb"Total train batch size \(w\. parallel, distributed & accumulation\) = ([0-9,]++)", grouped),
        # Those of an evaluation stand before its batch size.
        Fact("data_set_size", rb"\bNum examples = ([0-9,]++)$(?!\r?\n[^\n]{0,200}?\bBatch size = )", grouped),
        Fact("data_set_size", rb"\bNum examples = ([0-9,]++) \| Num Epochs = ", grouped),
        Fact("total_epochs", rb"\bNum Epochs = ([0-9,]++)(?= \| Total steps = | *+$)", grouped),
        Fact("total_steps", rb"(?:\bTotal optimization|\| Total) steps = ([0-9,]++) *+$", grouped),
        Fact("resumed_from", rb"Continuing training from (?:global )?+step ([0-9,]++)", grouped),
        Fact("accumulation", rb"Gradient [Aa]ccumulation steps = ([0-9,]++)", grouped),
        # Unsloth's.
        Fact("batch_size", rb"\bBatch size per device = ([0-9,]++) \| Gradient [Aa]ccumulation steps = ", grouped),
        Fact("batch_size_of_job", rb"\bTotal batch size \([0-9]++ x [0-9]++ x [0-9]++\) = ([0-9,]++) *+$", grouped),
        Fact("batch_size_of_job", rb"\bTotal batch size = ([0-9,]++) \| Total steps = ", grouped),
        Fact("devices", _UNSLOTH + rb"1\b" + _TO_COPIES + rb"([0-9]++) \|", int),
        Fact("devices", _UNSLOTH + rb"([0-9]++)\b" + _TO_COPIES + rb"1 \|", int),
        Fact("devices", _UNSLOTH + rb"(?<!used = )([0-9]++) *+$", int),
        Fact("parameters", rb"\bTrainable parameters = ([0-9,]++)(?=[ /]|$)", grouped),
        Fact("drop_last", rb"\bdataloader_drop_last=(True|False)\b"),
        Fact("parameters", rb"Number of trainable parameters = ([0-9,]++)", grouped),
        Fact("devices", rb"print\]   world_size \.++ ([0-9]++)", int),
        *PYTORCH_JOB,
        Fact("devices", rb"Process rank: -1, device: \S++, n_gpu: (\d++)", int),
        # DeepSpeed's, which fills a column with dots.
        Fact("batch_size", rb"print\]   train_micro_batch_size_per_gpu \.*+ ([0-9]++)", int),
        Fact("batch_size_of_job", rb"print\]   train_batch_size \.++ ([0-9]++)", int),
        Fact("accumulation", rb"print\]   gradient_accumulation_steps \.++ ([0-9]++)", int),
        Fact("zero", rb"print\]   zero_optimization_stage \.++ ([0-9]++)", int),
        Fact("precision", rb"\b(bf16|fp16)=True\b", words={b"bf16": "bf16", b"fp16": "amp"}),
        # LLaMA-Factory's.
        Fact("precision", rb"Process rank: (?:(?!, compute)[^\n]){0,200}+, compute dtype: torch\.(bfloat16|float16)\b", words={b"bfloat16": "bf16", b"float16": "amp"}),
        Fact("precision", rb"Using (?:amp|apex|cuda_amp|auto) (fp16) backend", words={b"fp16": "amp"}),
        Fact("precision", rb"\bbf16=False,\s(?:(?!\bbf16=False,|\bfp16=)[^{}]){0,6000}+\bfp16=(False),", words={b"False": "fp32"}),
    ),
    samples=(
        Sample(
            "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.12}\n 12%|█▎        | 12/100 [00:58<14:41, 4.50s/it]\r".encode(),
            step=12, _total=100, step_seconds=4.5,
        ),
        Sample(
            "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.12}\r\n 12%|█▎        | 120/1000 [00:58<14:41,  2.50it/s]".encode(),
            step=120, _total=1000, steps_per_second=2.5,
        ),
        Sample(
            b"{'train_runtime': 512.5, 'train_samples_per_second': 19.5, 'train_steps_per_second': 0.25, 'train_loss': 2.5, "
            b"'epoch': 1.0}",
            seconds=512.5, throughput=19.5, mean_loss=2.5, epoch=1.0,
        ),
        Sample(
            b"{'train_runtime': '512.5', 'train_samples_per_second': '19.5', 'train_steps_per_second': '0.25', 'epoch': '1'}",
            seconds=512.5, throughput=19.5, epoch=1.0,
        ),
        Sample(
            b"{'train_runtime': 512.5, 'train_samples_per_second': 1.25, 'epoch': 3.0}", seconds=512.5, steps_per_second=1.25, epoch=3.0,
        ),
        Sample(
            b"{'eval_loss': 2.5, 'epoch': 1.0}\n***** train metrics *****\n  epoch                    =        1.0\n"
            b"  train_runtime            = 0:08:32.50\n  train_samples_per_second =       19.5\n"
            b"  train_steps_per_second   =       0.25\n",
            throughput=19.5,
        ),
        Sample(
            b"[INFO|2026-11-20 10:00:00] llamafactory.train.callbacks:143 >> {'loss': 2.1250, 'learning_rate': 5.0000e-05, 'epoch': 0.12, 'throughput': 9876.54}\n",
            throughput=9876.54,
        ),
        Sample(b"{'loss': 2.5, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 0.12}", loss=2.5, epoch=0.12),
        Sample(b"{'loss': '2.5', 'grad_norm': '1.25', 'learning_rate': '5e-05', 'epoch': '0.12'}", loss=2.5, epoch=0.12),
        NearMiss(
            b"{'eval_loss': 2.25, 'eval_runtime': 12.5, 'eval_samples_per_second': 80.5, 'eval_steps_per_second': 5.0, 'epoch': 1.0}",
            "an evaluation",
        ),
        NearMiss("Running tokenizer:  12%|█▎        | 12/100 [00:58<14:41, 4.50s/it]".encode(), "not training"),
        NearMiss(b"  0%|          | 0/100 [00:00<?, ?it/s]", "nothing done yet"),
        NearMiss(b"100%|##########| 1/1 [00:00<00:00, 50.12it/s]", "a complete bar: loading and caching draw them too"),
        NearMiss(b"{'train_runtime': 512.5, 'train_samples_per_second': 19.", "cut inside the number"),
        NearMiss(
            b"{'train_runtime': '512.5', 'train_samples_per_second': '19.5', 'train_loss': '2.5', 'epoch': '1'}",
            "samples, though no steps follow: words were taken out",
        ),
        NearMiss(b"  train_samples            =       1000", "a number of samples"),
        NearMiss(b"  train_samples_per_second =       1.25\n", "of the versions that call steps samples, or cut"),
    ),
)  # fmt: skip
