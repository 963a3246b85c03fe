"""Hugging Face Trainer (`transformers`, and TRL over it): a summary at the end, losses during training, and tqdm's bar.

`train_samples_per_second` of the summary is the throughput of the job over the whole run, with evaluation and saving. For
a resumed run it also counts the steps before, and is too high; `train_loss` then lacks their losses, which shows the
resumption. Every node prints the summary, and a table may follow; they count once. Before 4.7 (2021) the summary lacks
`train_steps_per_second`, and its `train_samples_per_second` are optimizer steps per second.

During training the bar shows the time: the seconds since the start, at each optimizer step. Their differences count. The
speed that the bar prints is smoothed over the last steps, and does not count. Bars of evaluations look the same; the bar
of training has the stated number of steps, or the losses follow it. Bars of tokenizing and loading begin with a name.

The Trainer saves checkpoints silently. A long step after a multiple of `save_steps` (500 unless the log states another
number), after an epoch, or after the multiples of another number that all have a long step, may contain a checkpoint and
is left out. Any other long step is training: optimizers exist that do more work every few hundred steps, and begin with
it.

Later versions print numbers in quotes. Unsloth prints its own banner on every rank, in place of the head; it counts the
devices of one process, or the copies of the model. LLaMA-Factory's console also prints `throughput`, and Open-Instruct
`TPS`: tokens per second since the start, with everything in it. Since autumn 2025 a dictionary may state the tokens and
the seconds since the start (`num_input_tokens_seen`, `train_runtime`); without a bar their differences count. The
examples without the Trainer (`no_trainer`) print the same head and draw the same bar.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perfledger.parsers.contract import (
    NUMBER,
    Columns,
    Fact,
    Format,
    Kept,
    Pause,
    Reading,
    every,
    first_drawn,
    first_states,
    grouped,
    lacks,
    says,
    silent_checkpoints,
    take,
    without,
)
from perfledger.parsers.frameworks import ACCELERATE, PYTORCH_JOB, SEVERAL

#: Fewest losses after one bar that show that it is the bar of training.
_FEWEST_LOSSES = 2
#: Rounding error of a speed with three decimals.
_HALF_THOUSANDTH = 0.0005
#: Rounding error of a quotient of two numbers with four digits, as a share.
_FOUR_DIGITS = 0.0011
#: Largest difference between the steps of two thirds of a straight line, as a share.
_STRAIGHT = 0.02
#: Share beyond the last record up to which a run has ended as planned: skipped updates leave the learning rate as it was.
_ENDED = 0.1
#: Fewest records that show a straight line.
_FEWEST_OF_LINE = 3
#: Least difference, as a share, between a batch that two rounded speeds give and one of other samples.
_OTHER_BATCH = 0.2


def _of_training(columns: Columns) -> Kept:
    """Keep the lines of the bar of training: it has the stated steps, or losses after it, or lasts longest.

    If output is buffered, losses come in blocks and do not count. A session without losses or a head may be an
    evaluation.
    """
    total, is_loss = columns["total_steps"], np.isfinite(columns["_loss"])
    stated = float(columns["_total_steps"][0])
    drawn = np.isfinite(total)
    single = is_loss & np.append(False, drawn[:-1]) & ~np.append(is_loss[1:], False)
    totals, losses = np.unique(total[np.flatnonzero(single) - 1], return_counts=True)
    if np.isfinite(stated):
        return take(columns, total == stated)
    if losses.max(initial=0) >= _FEWEST_LOSSES:
        return take(columns, total == totals[np.argmax(losses)])
    longest = total[np.argmax(np.where(drawn, columns["clock"], -1.0))]
    return take(columns, (total == longest) & is_loss.any())


def _steps_of_epochs(columns: Columns) -> Kept:
    """Add the step of each line, by its share of the planned epochs."""
    share = columns["_epoch"] / columns["_total_epochs"]
    return every(columns), {**columns, "step": np.round(share * columns["_total_steps"])}


def _until_rate_is_zero(columns: Columns) -> Kept:
    """Add the epoch at which a learning rate that falls in a straight line is zero, if the run ended well before it."""
    epoch, rate = columns["epoch"], columns["_rate"]
    planned = np.full(len(epoch), np.nan)
    if len(epoch) >= _FEWEST_OF_LINE:
        third = len(epoch) // 3
        (first, middle, last), (_, before, end) = (each[-1 - 2 * third :: third] for each in (rate, epoch))
        fell = middle - last
        if last > 0 and fell > 0 and abs(first - middle - fell) <= _STRAIGHT * fell:
            zero = end + (end - before) * last / fell
            planned[-1] = zero if zero > (1 + _ENDED) * end else np.nan
    return every(columns), {**columns, "total_epochs": planned}


def _own_bar(columns: Columns) -> Kept:
    """Drop step and total of a bar after a summary, unless it counts up to the steps by which the summary divides.

    These are the planned steps, also if a run ended early. If output is buffered, another bar may follow.
    """
    rate = columns["_planned"] if "_planned" in columns else columns["steps_per_second"]
    seconds, total = columns["seconds"], columns["total_steps"]
    own = np.abs(total - rate * seconds) <= _HALF_THOUSANDTH * seconds + _FOUR_DIGITS * total
    return every(columns), {
        **columns,
        **{name: np.where(own, columns[name], np.nan) for name in ("step", "total_steps")},
    }


def _of_planned_steps(columns: Columns) -> Kept:
    """Add the steps by which a call's speeds divide: at least so many."""
    return every(columns), {
        **columns,
        "total_steps": (columns["_planned"] - _HALF_THOUSANDTH) * columns["seconds"],
    }


def _of_batch(columns: Columns) -> Kept:
    """Drop speeds that count other samples than a batch: of a given number of epochs they count prompts, not answers."""
    with np.errstate(all="ignore"):
        batch = columns["throughput"] / columns["_planned"]
        others = np.abs(batch / columns["_batch_size_of_job"] - 1) > _OTHER_BATCH
    return every(columns), {**columns, "throughput": np.where(others, np.nan, columns["throughput"])}


#: `2.5` or `'2.5'`, as a column.
_VALUE = rb"'?+(?P<%s>" + NUMBER + rb")'?+"
_RATE = rb"(?:(?=(?:(?!'learning_rate': |'epoch': )[^{}\r\n])*+'learning_rate': " + _VALUE % b"_rate" + rb",))?+"
_AHEAD = rb"(?:(?!'train_|'epoch': )[^{}\r\n])*+"
#: A notebook prints an item a line, and a page wraps what is long.
_SPEED = (
    _VALUE % b"seconds"
    + rb",\s++'train_samples_per_second': "
    + _VALUE % b"throughput"
    + rb",\s++'train_steps_per_second': "
)
_PLANNED = rb"(?:" + _VALUE % b"_planned" + rb"(?=[,}]))?+"
#: The epoch that the run came to, in its summary, whose speeds count the steps that were planned. Tokens may follow.
_LAST_EPOCH = rb"(?:[^{}]*?'epoch': " + _VALUE % b"epoch" + rb"(?=[,}]))?+"
#: Between it and the speeds a speed of tokens may stand.
_MEAN_LOSS = rb"(?:[^{}]*?'train_loss': " + _VALUE % b"mean_loss" + rb"(?=[,}]))?+"

#: What the bar came to, which is drawn again behind the summary.
_LAST_BAR = rb"(?:[^{}]{0,2000}+\}\s*+(?:Train: ++)?+[0-9]++%(?:\|[^|\r\n]{0,400}+\|)?+ <step>/<total_steps> \[)?+"

#: The table behind the training, up to its speed. An evaluation of the data of the training has one of this name as well,
#: with what it measured.
_TABLE = (
    rb"\*{5} train metrics \*{5}[^\n]{0,200}+\n(?:[^\n=]*?\bepoch ++= ++" + _VALUE % b"epoch" + rb"[^\n]*+\n)?+"
    rb"(?:[^\n=]*?\b(?:num_input_tokens_seen|total_flos|init_mem_\w++) ++= [^\n]*+\n)*+"
    rb"(?:[^\n=]*?\btrain_loss ++= ++" + _VALUE % b"mean_loss" + rb"[^\n]*+\n)?+"
    rb"(?:[^\n=]*?\b(?:train_(?:runtime|samples)|\w++_mem_\w++) ++= [^\n]*+\n)*+"
)

#: Unsloth's banner before training; the one before it, of the model, is alike but for the words behind its name.
_UNSLOTH = rb"==\(\(====\)\)==  Unsloth - [^|\r\n]{0,80}+\| Num GPUs (?:used )?+= "
#: A whole number behind the name of an argument: `--name 4`, `name=4,`, `name: 4` or `"name": 4,`.
_STATED = rb"[\"']?+(?:=|: ?+| )([1-9][0-9]*+)(?=[\s,)}]|\Z)"
_HEAD = rb"\*{5} Running training \*{5}"
#: In its banner `Num GPUs used` are those of a process: one, unless the model is spread over several.
_TO_COPIES = rb"(?:(?!Data Parallel GPUs = |Unsloth)[\s\S]){0,1000}+Data Parallel GPUs = "


def _once(banner: bytes) -> bytes:
    """Return the pattern of a banner, which every node prints before any of them takes a step or crashes: one start."""
    progress = rb"[0-9]it/s|[0-9]s/it|'train_runtime': |, Epoch [0-9]|Traceback \(most |\{'loss': "
    return banner + rb"(?:(?:(?!%s)[\s\S]){0,60000}?%s)*+" % (progress, banner)


def _adjusted(printed: bytes) -> int:
    """Return the batch size of a device: a process may drive several, or try a smaller one where memory ran out."""
    words = printed.split()
    return min(grouped(words[0]), grouped(words[-1]))


#: Where ranks share samples, each of them counts the same tokens.
_SHARED = rb"\b(?:[cst]p_size|(?:context|sequence|tensor)_parallel_(?:size|degree))[\"']?+(?:=|: ?+| )" + SEVERAL

_PAUSES = (
    Pause("evaluation", "'eval_runtime': "),
    Pause("evaluation", "***** Running Evaluation"),
    Pause("checkpoint", "Saving model checkpoint to "),
    # The examples without the Trainer.
    Pause("evaluation", "- __main__ - epoch {:int}"),
    Pause("checkpoint", "Saving current state to "),
    # DeepSpeed, PEFT, transformers 5, Unsloth and transformers print these lines while the Trainer saves silently.
    Pause("checkpoint", "] [Torch] Checkpoint {_} is about to be saved!"),
    Pause("checkpoint", rb"/peft/utils/(?:save_and_load|other)\.py:[0-9]++: UserWarning: "),
    Pause("checkpoint", "Writing model shards: "),
    Pause("checkpoint", "Unsloth: Restored added_tokens_decoder metadata in "),
    Pause("checkpoint", "Some non-default generation parameters are set in the model config."),
)
_BAR = Reading(
    # ms-swift names the bar, and at first printed nothing else of its own.
    # A few steps within a second tell no speed: such a bar is of the splits of a data set, which is loaded before the head.
    rb"(?<![^\r\n]) *+(?:Train: ++)?+[0-9]++%(?:\|[^|\r\n]{0,400}+\|)?+ (?P<step>[1-9][0-9]*+)/(?!(?P=step) |[2-9] \[00:00<00:00, )"
    # A narrow terminal cuts off the bracket.
    rb"<total_steps> \[(?P<elapsed>[0-9:]++)<[0-9:?]++, ++[0-9.]++(?:s/it|it/s)(?=[\],/\s])|\{'loss': '?+(?P<_loss>-?+[0-9])",
    unit="samples/s",
    per_update=True,
    weak=True,
    pauses=_PAUSES,
    verbs=(_of_training, first_drawn, silent_checkpoints),
)

#: The speeds of a whole run, on every node.
_SUMMARY = Reading(
    rb"\{'train_runtime': (?<!metrics=\{'train_runtime': )" + _SPEED + _PLANNED + _MEAN_LOSS + _LAST_EPOCH + _LAST_BAR,
    unit="samples/s",
    span="run",
    verbs=(_own_bar,),
)
#: What TRL prints where a model answers prompts: a batch counts answers, several to a prompt, examples and epochs count prompts.
_GENERATED = rb"'completion"


def _of_examples(name: str, pattern: bytes) -> Fact:
    """Return a fact that counts examples, for logs where a batch counts the same."""
    return Fact(name, pattern, grouped, first=True, where=lacks(_GENERATED))


FORMAT = Format(
    title="Hugging Face Trainer",
    framework="PyTorch",
    needs=b"'epoch': ",
    # Unsloth may print its banner besides the head: both are one start.
    start=_once(rb"(?:%s|%s)" % (_HEAD, _UNSLOTH)),
    before_start=rb"^python[\d.]*+ |Training/evaluation parameters |^(?:Seq2Seq)?TrainingArguments\(|Process rank: -?+[0-9]"
    rb"|Distributed environment: |loading configuration file |\[WARNING\|logging\.py",
    end=rb"\{'train_runtime': |\*{5} train metrics \*{5}|Training completed\. Do not forget to share",
    readings=(
        _BAR,
        replace(_SUMMARY, where=lacks(_GENERATED)),
        replace(_SUMMARY, where=says(_GENERATED), verbs=(_of_batch, _own_bar)),
        Reading(
            rb"TrainOutput\(global_step=<step>, (?:(?!metrics=)[^{}])*+metrics=\{'train_runtime': " + _SPEED
            + rb"(?P<_planned>[0-9.]++)," + _MEAN_LOSS + _LAST_EPOCH,
            unit="samples/s",
            span="run",
            verbs=(_of_planned_steps,),
        ),
        Reading(
            rb"\{'train_runtime': <seconds>,\s++'train_samples_per_second': <steps_per_second>(?=\}|,\s++'(?!train_)\w++': )" + _LAST_EPOCH + _LAST_BAR,
            unit="samples/s",
            span="run",
            per_update=True,
            verbs=(_own_bar,),
        ),
        Reading(
            _TABLE + rb"[^\n=]*?\btrain_samples_per_second ++= ++<throughput>(?=\s)[^\n=]*+\n[^\n]*?\btrain_steps_per_second ++=",
            unit="samples/s", span="run", weak=True,
        ),
        # Since the autumn of 2025, where tokens are counted. Floats in quotes have four digits, too few for differences.
        Reading(
            rb"\{'loss': (?:(?!'epoch': |'num_input_tokens_seen': )[^{}\r\n])*+(?:'epoch': (?P<_epoch>[0-9.]++), )?+"
            rb"'num_input_tokens_seen': <consumed>, 'train_runtime': (?P<elapsed>[0-9.]++), 'train_tokens_per_second': ",
            unit="tokens/s", per_update=True, pauses=_PAUSES, verbs=(_steps_of_epochs, silent_checkpoints, without("step")),
            where=lacks(_SHARED),
        ),
        # LLaMA-Factory's mean since the start, with everything in it.
        Reading(
            rb"\{'loss': [0-9.einaf]++, 'learning_rate': [0-9.e+-]++, 'epoch': [0-9.]++, (?:'(?!throughput)\w++': [-+.0-9einaf]++, )*+'throughput': <throughput>\}",
            unit="tokens/s", span="run", weak=True,
        ),
        # Open-Instruct's: its tokens are those of all devices, without padding.
        Reading(
            rb" - __main__ - ++Step: [0-9]++, LR: [-+.0-9e]++, Loss: [-+.0-9einfa]++, (?:Aux Loss: [-+.0-9einfa]++, )?+TPS: <throughput>(?=\s)",
            unit="tokens/s", span="run", weak=True,
        ),
        Reading(
            rb"\{'loss': " + _VALUE % b"loss" + rb", " + _RATE + _AHEAD + rb"'epoch': " + _VALUE % b"epoch" + rb"[,}]", verbs=(first_states("loss"), _until_rate_is_zero)
        ),
    ),
    facts=(
        # Its twin of 2020 for TensorFlow.
        Fact("framework", rb"^ *+Steps per epoch = ([0-9]++)\r?\n *+Total optimization steps = ", lambda _: "TensorFlow"),
        # PaddleNLP's Trainer began as a copy, and printed its losses and its bar.
        Fact("framework", rb"\] \[ *+INFO\] - \*{5} (Running training) \*{5}", lambda _: "PaddlePaddle"),
        Fact("model", rb"--model_name_or_path[= ]'?+([\w./-]++)"),
        Fact("model", rb"loading configuration file https://huggingface\.co/([\w./-]+?)/resolve/"),
        Fact("model", rb'"_name_or_path": "([\w./-]++)"'),
        Fact("model", rb"--model_type[= ]([\w-]++)"),
        Fact("model", rb'^ *+"model_type": "([\w-]++)"'),
        Fact("batch_size", rb"Instantaneous batch size per device = ([0-9,]++\s++[^\n]{0,200}?Training with DataParallel so batch size has been adjusted to: [0-9,]++)", _adjusted),
        Fact("batch_size", rb"Instantaneous batch size per device = ([0-9,]++)", grouped),
        Fact("batch_size_of_job", rb"Total train batch size \(w\. parallel, distributed & accumulation\) = ([0-9,]++)", grouped),
        # Those of an evaluation stand before its batch size.
        _of_examples("data_set_size", rb"\bNum examples = ([0-9,]++)$(?!\r?\n[^\n]{0,200}?\bBatch size = )"),
        _of_examples("data_set_size", rb"\bNum examples = ([0-9,]++) \| Num Epochs = "),
        _of_examples("total_epochs", rb"\bNum Epochs = ([0-9,]++)(?= \| Total steps = | *+$)"),
        Fact("total_steps", rb"(?:\bTotal optimization|\| Total) steps = ([0-9,]++) *+$", grouped),
        Fact("resumed_from", rb"Continuing training from (?:global )?+step ([0-9,]++)", grouped),
        Fact("saved_every", rb"\bsave_steps[\"']?+(?:=|: ?+| )([1-9][0-9]*+)(?=[,\s])", int),
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
        *ACCELERATE,
        Fact("devices", rb"Process rank: -1, device: [^\s,]++, n_gpu: (\d++)", int),
        # DeepSpeed's, which fills a column with dots.
        Fact("batch_size", rb"print\]   train_micro_batch_size_per_gpu \.*+ ([0-9]++)", int),
        Fact("batch_size_of_job", rb"print\]   train_batch_size \.++ ([0-9]++)", int),
        Fact("accumulation", rb"print\]   gradient_accumulation_steps \.++ ([0-9]++)", int),
        Fact("zero", rb"print\]   zero_optimization_stage \.++ ([0-9]++)", int),
        Fact("precision", rb"\b(bf16|fp16)=True\b", words={b"bf16": "bf16", b"fp16": "amp"}),
        # As a command, its arguments or a configuration state them.
        Fact("batch_size", rb"\b(?:per_device_train|micro)_batch_size" + _STATED, int),
        Fact("accumulation", rb"\bgradient_accumulation_steps" + _STATED, int),
        Fact("precision", rb"--(bf16|fp16)(?:[= ][Tt]rue)?+(?=[ \t]*+(?:\\?+$|--))", words={b"bf16": "bf16", b"fp16": "amp"}),
        Fact("precision", rb"^ *+[\"']?+(bf16|fp16)[\"']?+: [Tt]rue,?+$", words={b"bf16": "bf16", b"fp16": "amp"}),
        Fact("precision", rb"print\]   (bfloat16|fp16)_enabled \.++ True", words={b"bfloat16": "bf16", b"fp16": "amp"}),
        # LLaMA-Factory's.
        Fact("precision", rb"Process rank: (?:(?!, compute)[^\n]){0,200}+, compute dtype: torch\.(bfloat16|float16)\b", words={b"bfloat16": "bf16", b"float16": "amp"}),
        Fact("precision", rb"Using (?:amp|apex|cuda_amp|auto) (fp16) backend", words={b"fp16": "amp"}),
        Fact("precision", rb"\bbf16=False,\s(?:(?!\bbf16=False,|\bfp16=)[^{}]){0,6000}+\bfp16=(False),", words={b"False": "fp32"}),
    ),
)  # fmt: skip
