"""Hugging Face Trainer (`transformers`, and TRL over it): a summary at the end, losses during training, and tqdm's bar.

`train_samples_per_second` of the summary is the throughput of the job over the whole run, with evaluation and saving. For
a resumed run it also counts the steps before, and is too high; `train_loss` then lacks their losses. Every node prints the
summary, and a table may follow; they count once. Before 4.7 (2021) the summary lacks `train_steps_per_second`, and its
`train_samples_per_second` are optimizer steps per second.

During training the bar shows the seconds since the start, at each optimizer step. Their differences count; the printed
speed is smoothed, and does not count. Bars of evaluations look the same; the bar of training has the stated number of
steps, or the losses follow it. Bars of tokenizing and loading begin with a name. The Trainer saves checkpoints silently:
a long step after a multiple of `save_steps` (500 unless stated), after an epoch, or after the multiples of another number
that all have a long step, may contain a checkpoint and is left out. Any other long step is training: optimizers exist
that do more work every few hundred steps, and begin with it.

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
    Pause,
    Reading,
    Rows,
    first_drawn,
    grouped,
    lacks,
    says,
    silent_checkpoints,
    states,
)
from perfledger.parsers.frameworks import (
    ACCELERATE,
    ANSWERS,
    DEEPSPEED,
    HUGGING_FACE,
    HUGGING_FACE_START,
    PYTORCH_JOB,
    SHARED_SAMPLES,
    UNSLOTH,
)

#: Fewest losses after one bar that show that it is the bar of training.
_FEWEST_LOSSES = 2
#: Rounding error of a speed with three decimals.
_HALF_THOUSANDTH = 0.0005
#: Rounding error of a quotient of two numbers with four digits, as a share.
_FOUR_DIGITS = 0.0011
#: Least difference, as a share, between a batch that two rounded speeds give and one of other samples.
_OTHER_BATCH = 0.2


def _of_training(columns: Columns) -> Columns:
    """Keep the lines of the bar of training: it has the stated steps, or losses after it, or lasts longest.

    If output is buffered, losses come in blocks and do not count.
    """
    total, stated = columns["total_steps"], float(columns["_total_steps"][0])
    totals, losses = np.unique(total[np.isfinite(columns["_loss"])], return_counts=True)
    if np.isfinite(stated):
        return columns.take(total == stated)
    if losses.max(initial=0) >= _FEWEST_LOSSES:
        return columns.take(total == totals[np.argmax(losses)])
    return columns.take(total == total[np.argmax(columns["clock"])])


def _checkpoints_by_epochs(columns: Columns) -> Columns:
    """Mark records with a silent checkpoint, with the step of each line by its share of the planned epochs."""
    share = columns["_epoch"] / columns["_total_epochs"]
    return silent_checkpoints(columns.assign(step=np.round(share * columns["_total_steps"]))).drop("step")


def _own_bar(columns: Columns) -> Columns:
    """Drop step and total of a bar after a summary, unless it counts up to the steps of the summary.

    These are the planned steps, also if a run ended early. If output is buffered, another bar may follow.
    """
    rate = columns["_planned"] if "_planned" in columns else columns["steps_per_second"]
    seconds, total = columns["seconds"], columns["total_steps"]
    own = np.abs(total - rate * seconds) <= _HALF_THOUSANDTH * seconds + _FOUR_DIGITS * total
    return columns.assign(step=np.where(own, columns["step"], np.nan), total_steps=np.where(own, total, np.nan))


def _of_planned_steps(columns: Columns) -> Columns:
    """Add the fewest steps that the speeds of a call count."""
    total = (columns["_planned"] - _HALF_THOUSANDTH) * columns["seconds"]
    return columns.assign(total_steps=total)


def _of_batch(columns: Columns) -> Columns:
    """Drop speeds that count other samples than a batch: of a given number of epochs they count prompts, not answers."""
    batch = columns["throughput"] / columns["_planned"]
    others = np.abs(batch / columns["_batch_size_of_job"] - 1) > _OTHER_BATCH
    return columns.assign(throughput=np.where(others, np.nan, columns["throughput"]))


#: `2.5` or `'2.5'`, as a column.
_VALUE = rb"'?+(?P<%s>" + NUMBER + rb")'?+"
#: A notebook prints an item a line, and a page wraps what is long.
_PER_SECOND = rb",\s++'train_%s_per_second': "
_SPEED = _VALUE % b"seconds" + _PER_SECOND % b"samples" + _VALUE % b"throughput" + _PER_SECOND % b"steps"
_PLANNED = rb"(?:" + _VALUE % b"_planned" + rb"(?=[,}]))?+"
#: A key of the summary and its column.
_LATER = rb"(?:[^{}]*?'%s': '?+(?P<%s>" + NUMBER + rb")'?+(?=[,}]))?+"
#: The speeds count all planned steps, also if the run ended at an earlier epoch.
_END = _LATER % (b"train_loss", b"mean_loss") + _LATER % (b"epoch", b"epoch")
#: The last step of the bar, which is drawn again after the summary.
_LAST_BAR = rb"(?:[^{}]{0,2000}+\}\s*+(?:Train: ++)?+[0-9]++%(?:\|[^|\r\n]{0,400}+\|)?+ <step>/<total_steps> \[)?+"

#: The table after the training, up to its speed. Evaluations print such a table, too, with other metrics.
_TABLE = (
    rb"\*{5} train metrics \*{5}[^\n]{0,200}+\n(?:[^\n=]*?\bepoch ++= ++" + _VALUE % b"epoch" + rb"[^\n]*+\n)?+"
    rb"(?:[^\n=]*?\b(?:num_input_tokens_seen|total_flos|init_mem_\w++) ++= [^\n]*+\n)*+"
    rb"(?:[^\n=]*?\btrain_loss ++= ++" + _VALUE % b"mean_loss" + rb"[^\n]*+\n)?+"
    rb"(?:[^\n=]*?\b(?:train_(?:runtime|samples)|\w++_mem_\w++) ++= [^\n]*+\n)*+"
)

#: A whole number after the name of an argument: `--name 4`, `name=4,`, `name: 4` or `"name": 4,`.
_STATED = rb"[\"']?+(?:=|: ?+| )([1-9][0-9]*+)(?=[\s,)}]|\Z)"


def _adjusted(printed: bytes) -> int:
    """Return the batch size of a device: a process may drive several, or try a smaller one after memory ran out."""
    words = printed.split()
    return min(grouped(words[0]), grouped(words[-1]))


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
    # ms-swift names the bar, and its first releases print only this.
    # The bar of the splits of a data set is drawn before the head, and shows a few steps within a second.
    rb"(?<![^\r\n]) *+(?:Train: ++)?+[0-9]++%(?:\|[^|\r\n]{0,400}+\|)?+ (?P<step>[1-9][0-9]*+)/(?!(?P=step) |[2-9] \[00:00<00:00, )"
    # A narrow terminal cuts off the bracket.
    rb"<total_steps> \[(?P<elapsed>[0-9:]++)<[0-9:?]++, ++[0-9.]++(?:s/it|it/s)(?=[\],/\s])"
    rb"(?:[^\r\n{]{0,200}+\s*+(?=\{'loss': '?+-?+(?P<_loss>[0-9])[^{}\r\n]{1,1000}+\}\s*+(?!\{)))?+",
    unit="samples/s",
    # A session without losses or a head may be an evaluation.
    where=says(rb"\{'loss': |(?:Total optimization|\| Total) steps = "),
    per_update=True,
    weak=True,
    pauses=_PAUSES,
    verbs=(_of_training, first_drawn, silent_checkpoints),
)

#: The speeds of a whole run, on every node.
_SUMMARY = Reading(
    rb"\{'train_runtime': (?<!metrics=\{'train_runtime': )" + _SPEED + _PLANNED + _END + _LAST_BAR,
    unit="samples/s",
    span="run",
    verbs=(_own_bar,),
)
FORMAT = Format(
    title="Hugging Face Trainer",
    framework="PyTorch",
    needs=b"'epoch': ",
    start=HUGGING_FACE_START,
    before_start=rb"^python[\d.]*+ |Training/evaluation parameters |^(?:Seq2Seq)?TrainingArguments\(|Process rank: -?+[0-9]"
    rb"|Distributed environment: |loading configuration file |\[WARNING\|logging\.py",
    end=rb"\{'train_runtime': |\*{5} train metrics \*{5}|Training completed\. Do not forget to share",
    readings=(
        _BAR,
        replace(_SUMMARY, where=lacks(ANSWERS)),
        replace(_SUMMARY, where=says(ANSWERS), verbs=(_of_batch, _own_bar)),
        Reading(
            rb"TrainOutput\(global_step=<step>, (?:(?!metrics=)[^{}])*+metrics=\{'train_runtime': " + _SPEED
            + rb"(?P<_planned>[0-9.]++)," + _END,
            unit="samples/s", span="run", verbs=(_of_planned_steps,),
        ),
        Reading(
            rb"\{'train_runtime': <seconds>,\s++'train_samples_per_second': <steps_per_second>(?=\}|,\s++'(?!train_)\w++': )" + _END + _LAST_BAR,
            unit="samples/s", span="run", per_update=True, verbs=(_own_bar,),
        ),
        Reading(
            _TABLE + rb"[^\n=]*?\btrain_samples_per_second ++= ++<throughput>(?=\s)[^\n=]*+\n[^\n]*?\btrain_steps_per_second ++=",
            unit="samples/s", span="run", weak=True,
        ),
        # Since autumn 2025, if tokens are counted. Floats in quotes have four digits, too few for differences.
        Reading(
            rb"\{'loss': (?:(?!'epoch': |'num_input_tokens_seen': )[^{}\r\n])*+(?:'epoch': (?P<_epoch>[0-9.]++), )?+"
            rb"'num_input_tokens_seen': <consumed>, 'train_runtime': (?P<elapsed>[0-9.]++), 'train_tokens_per_second': ",
            unit="tokens/s", per_update=True, pauses=_PAUSES, verbs=(_checkpoints_by_epochs,),
            where=lacks(SHARED_SAMPLES),
        ),
        Reading("{{'loss': {_}, 'learning_rate': {_}, 'epoch': {_}, {*}'throughput': {throughput}}}", unit="tokens/s", span="run", weak=True),
        # Open-Instruct counts the tokens of all devices without padding.
        Reading(" - __main__ -  Step: {_}, LR: {_}, Loss: {_}, {?Aux Loss: {_}, }TPS: {throughput}$", unit="tokens/s", span="run", weak=True),
        Reading(Rows("{'loss':", loss="loss", epoch="epoch", learning_rate="learning_rate?"), verbs=(states("loss"),)),
    ),
    facts=(
        # Its twin of 2020 for TensorFlow.
        Fact("framework", rb"^ *+Steps per epoch = ([0-9]++)\r?\n *+Total optimization steps = ", lambda _: "TensorFlow"),
        Fact("batch_size", rb"Instantaneous batch size per device = ([0-9,]++\s++[^\n]{0,200}?Training with DataParallel so batch size has been adjusted to: [0-9,]++)", _adjusted),
        *HUGGING_FACE,
        Fact("model", rb"loading configuration file https://huggingface\.co/([\w./-]+?)/resolve/"),
        Fact("model", rb'"_name_or_path": "([\w./-]++)"'),
        Fact("model", rb'^ *+"model_type": "([\w-]++)"'),
        Fact("resumed_from", rb"Continuing training from (?:global )?+step ([0-9,]++)", grouped),
        Fact("saved_every", rb"\bsave_steps[\"']?+(?:=|: ?+| )([1-9][0-9]*+)(?=[,\s])", int),
        *UNSLOTH,
        Fact("drop_last", rb"\bdataloader_drop_last=(True|False)\b"),
        *PYTORCH_JOB,
        *ACCELERATE,
        *DEEPSPEED,
        Fact("batch_size_of_job", rb"print\]   train_batch_size \.++ ([0-9]++)", int),
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
