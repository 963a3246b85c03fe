"""PyTorch's `word_language_model` and the scripts derived from it (AWD-LSTM, Transformer-XL): a line per `--log-interval`.

`ms/batch` is the mean since the line before, with the wait for data, and counts all devices. Transformer-XL evaluates
within an epoch while its timer runs on; elsewhere the timer begins anew with the epoch, behind the evaluation. A batch
is one of sequences, `--bptt` or `--tgt_len` tokens each; the line states none of them.
"""

from parsers.contract import Fact, Format, NearMiss, Pause, Reading, Sample, up_to

_TIME = rb" batches \| lr [0-9.e+-]++ \| ms/batch ++<step_seconds> \| loss ++<loss> \| (?=ppl|bpc)"

FORMAT = Format(
    title="PyTorch examples, language model",
    framework="PyTorch",
    marker=b" | ms/batch ",
    end=rb"\| End of training \| test loss ",
    readings=(
        Reading(
            rb"\| epoch ++<epoch> \| ++<step>/ *+<total_steps>" + _TIME,
            unit="sequences/s",
            factors={"step_seconds": 1e-3},
            epoch_timer=True,
            pauses=(
                Pause(
                    "evaluation",
                    rb"\| end of epoch ",
                    b"| end of epoch   3 | time: 50.25s | valid loss  5.25 | valid ppl   190.57",
                    inside="none",
                ),
            ),
        ),
        Reading(
            rb"\| epoch ++<epoch> step ++<step> \| ++[0-9]++" + _TIME,
            unit="sequences/s",
            factors={"step_seconds": 1e-3},
            pauses=(
                Pause(
                    "evaluation",
                    rb"\| Eval ++[0-9]++ at step ",
                    b"| Eval   2 at step     8000 | time: 2500.25s | valid loss  5.25 | valid ppl   190.566",
                ),
            ),
        ),
    ),
    facts=(
        Fact("batch_size_of_job", rb"^ {4}- batch_size : ([0-9]++)$", int),
        Fact("batch_size_of_job", rb"\bNamespace\(" + up_to(rb"(?<=[( ])batch_size=", rb"Namespace\(") + rb"([0-9]++)\b", int),
    ),
    samples=(
        Sample(
            b"| epoch   3 |   200/ 1250 batches | lr 20.00 | ms/batch 62.50 | loss  5.25 | ppl   190.57\n",
            epoch=3, step=200, total_steps=1250, step_seconds=0.0625, loss=5.25,
        ),
        Sample(
            b"| epoch   3 |   200/ 1250 batches | lr 30.00000 | ms/batch 62.50 | loss  5.25 | ppl   190.57 | bpc    7.574\n",
            step=200, step_seconds=0.0625,
        ),
        Sample(
            b"| epoch   1 step     7400 |   7400 batches | lr 0.00025 | ms/batch 625.00 | loss  5.25 | ppl   190.566\n",
            epoch=1, step=7400, step_seconds=0.625, loss=5.25,
        ),
        Sample(b"| epoch   1 step     7400 |   7400 batches | lr 0.00025 | ms/batch 625.00 | loss  1.25 | bpc   1.80337\n", step=7400),
        NearMiss(b"| end of epoch   3 | time: 50.25s | valid loss  5.25 | valid ppl   190.57\n", "with its evaluation"),
        NearMiss(b"| epoch   3 |   200/ 1250 batches | lr 20.00 | ms/batch 62.5", "cut inside the number"),
    ),
)  # fmt: skip
