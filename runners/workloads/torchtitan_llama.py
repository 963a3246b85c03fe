"""Runs torchtitan's own trainer on generated text: what it takes from its repository's tests is made here instead.

torchtitan trains on `c4_test`, a folder of its repository that its package lacks, and wants a tokenizer. Both are
written into the present folder: words from a vocabulary of 10,000, in random order, one document to a line. The
arguments are those of `torchtitan.train`; what is printed is torchtitan's. Where `--module` names this file, `--config`
may also be `llama3_8b_float8`, which torchtitan has for 405B alone; torchtitan 0.2 knows neither argument. Source of
the paths: torchtitan 0.2.2 and 0.3.0, `hf_datasets/text_datasets.py` and `components/tokenizer.py`.
"""

from __future__ import annotations

import json
import os
import random
import runpy
import time
from pathlib import Path
from typing import Any

WORDS, DOCUMENTS, LENGTH = 10_000, 2_000, 1_000
MARKS = ("<unk>", "<|begin_of_text|>", "<|end_of_text|>")
TOKENIZER, TEXT = Path("tests/assets/tokenizer"), Path("tests/assets/c4_test")
#: How long the other ranks of a host wait for its first one.
PATIENCE_SECONDS = 120


def llama3_8b() -> Any:
    """Return torchtitan's configuration without profiles, saved states and validation, which would be timed."""
    from torchtitan.models.llama3 import config_registry

    return quiet(config_registry.llama3_8b())


def llama3_8b_mxfp8() -> Any:
    """Return torchtitan's configuration in MXFP8."""
    from torchtitan.models.llama3 import config_registry

    return quiet(config_registry.llama3_8b_mxfp8())


def llama3_8b_float8() -> Any:
    """Return torchtitan's 8B with FP8 in its linear layers but the last, as its 405B has them: one scale per tensor."""
    from torchtitan.components.quantization import Float8LinearConverter
    from torchtitan.config import CompileConfig
    from torchtitan.models.llama3 import config_registry, model_registry

    config = config_registry.llama3_8b()
    config.compile = CompileConfig(enable=True, components=["model"])
    converter = Float8LinearConverter.Config(filter_fqns=["lm_head"], model_compile_enabled=True)
    config.model_spec = model_registry("8B", converters=[converter])
    return quiet(config)


def quiet(config: Any) -> Any:
    """Return a configuration that only trains, on the data that this file writes, with a line for each step."""
    config.hf_assets_path, config.dataloader.dataset = str(TOKENIZER), "c4_test"
    config.profiler.enable_profiling = config.metrics.enable_tensorboard = False
    config.checkpoint.enable = config.validator.enable = False
    config.metrics.log_freq = 1
    return config


def write_tokenizer() -> None:
    """Write a tokenizer that knows the words, in the form of Hugging Face's `tokenizers`."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: number for number, word in enumerate([*MARKS, *(f"w{number}" for number in range(WORDS))])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=MARKS[0]))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.add_special_tokens([*MARKS])
    TOKENIZER.mkdir(parents=True)
    made.save(str(TOKENIZER / "tokenizer.json"))
    stated = {"bos_token": MARKS[1], "eos_token": MARKS[2]}
    (TOKENIZER / "tokenizer_config.json").write_text(json.dumps(stated), encoding="utf-8")


def write_text() -> None:
    """Write documents of random words; last, since other ranks of this host wait for the folder."""
    chance = random.Random(0)
    partial = TEXT.with_name("partial")
    partial.mkdir(parents=True)
    with (partial / "data.json").open("w", encoding="utf-8") as file:
        for _ in range(DOCUMENTS):
            text = " ".join(f"w{number}" for number in chance.choices(range(WORDS), k=LENGTH))
            file.write(json.dumps({"text": text}) + "\n")
    partial.rename(TEXT)


def main() -> None:
    """Write what is missing, and train."""
    if os.environ.get("LOCAL_RANK", "0") == "0":
        write_tokenizer()
        write_text()
    patience = time.monotonic() + PATIENCE_SECONDS
    while not TEXT.exists():
        if time.monotonic() > patience:
            raise SystemExit(f"{TEXT}: rank 0 of this host did not write it within {PATIENCE_SECONDS} s")
        time.sleep(0.2)
    runpy.run_module("torchtitan.train", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
