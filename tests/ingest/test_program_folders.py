"""Folders that programs write: the files next to a log state facts that the log lacks, without an option."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_logs import seg
from made_trees import Called

from tests.parsers.golden import log_of

SEG = "\n".join(seg([4.0, *[5.0] * 5])) + "\n"
METADATA: dict[str, Any] = {
    "os": "Linux-5.15",
    "python": "3.11.4",
    "program": "/home/jane/train.py",
    "gpu": "NVIDIA L40S",
    "gpu_count": 4,
    "gpu_nvidia": [{"name": "NVIDIA L40S", "memoryTotal": "48305799168"}] * 4,
    "cudaVersion": "12.4",
}
CONFIG = """wandb_version: 1

_name_or_path:
  desc: null
  value: acme/tiny-lm
_wandb:
  desc: null
  value:
    python_version: 3.11.4
    m:
      value: 7
bf16:
  value: true
fp16:
  value: false
gradient_accumulation_steps:
  desc: null
  value: 2
optimizer:
  value:
    value: 3
per_device_train_batch_size:
  desc: null
  value: 4
"""


def wandb_folder(root: Path, metadata: dict[str, Any] = METADATA, config: str = CONFIG, log: str = SEG) -> Path:
    files = root / "logs" / "wandb" / "run-20261101_101112-ab12cd34" / "files"
    files.mkdir(parents=True)
    (files / "output.log").write_text(log)
    (files / "wandb-metadata.json").write_text(json.dumps(metadata, indent=2))
    (files / "config.yaml").write_text(config)
    (files / "wandb-summary.json").write_text('{"train/loss": 2.5, "_step": 50}')
    (files.parent / "logs").mkdir()
    (files.parent / "logs" / "debug-internal.log").write_text("2026-11-01 10:11:12 INFO MainThread:12 started\n")
    (root / "logs" / "wandb" / "latest-run").symlink_to(files.parent.name)
    (root / "logs" / "wandb" / "debug-internal.log").symlink_to(f"{files.parent.name}/logs/debug-internal.log")
    return root / "logs"


def test_a_folder_of_wandb_needs_no_layout(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    called = ingest(wandb_folder(tmp_path), "--json")
    (line,) = called.lines
    assert called.problems == []
    found = {name: (each["value"], each["where"], each["source"]) for name, each in line["facts"].items()}
    assert found["model"] == ("acme/tiny-lm", "config.yaml:5", "folder")
    assert found["hardware"] == ("L40S", "wandb-metadata.json:9", "folder")
    assert found["batch_size"] == (4, "config.yaml:24", "folder")
    assert found["accumulation"] == (2, "config.yaml:18", "folder")
    assert found["precision"] == ("bf16", "config.yaml:13", "folder")
    assert line["environment"] == {
        "os": "Linux-5.15",
        "python": "3.11.4",
        "gpu": "NVIDIA L40S",
        "gpus": 4,
        "cuda": "12.4",
    }


def test_the_cards_of_a_machine_are_the_devices_unless_another_source_states_them(
    tmp_path: Path, ingest: Callable[..., Called]
) -> None:
    """`gpu_count` counts all cards of the machine, even unused ones, so the figure names its source."""
    folder = wandb_folder(tmp_path)
    (line,) = ingest(folder, "--json").lines
    stated = line["facts"]["devices"]
    assert (stated["value"], stated["source"], stated["where"]) == (4, "folder", "wandb-metadata.json:6")
    assert "devices is stated in wandb-metadata.json:6" in ingest("figures", folder).out
    (line,) = ingest(folder, "--json", "--assume", "devices=1").lines
    assert line["case"]["devices"] == 1


def test_cards_of_two_kinds_state_no_hardware(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    two = METADATA | {"gpu_nvidia": [{"name": "NVIDIA L40S"}, {"name": "NVIDIA A40"}]}
    (line,) = ingest(wandb_folder(tmp_path, two), "--json").lines
    assert "hardware" not in line["facts"]


def test_the_log_outweighs_the_files_next_to_it(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    """A configuration with a different batch size causes a note, and the log's value counts."""
    log, config = log_of("frameworks.hf_trainer").read_text("utf-8"), CONFIG.replace("value: 4\n", "value: 8\n")
    (line,) = ingest(wandb_folder(tmp_path, config=config, log=log), "--json").lines
    assert line["facts"]["batch_size"]["source"] == "log"
    codes = [each["code"] for each in line["problems"]]
    assert "fact_differs" in codes
    assert "contradiction" not in codes


def test_a_broken_description_is_a_problem(tmp_path: Path, ingest: Callable[..., Called]) -> None:
    folder = wandb_folder(tmp_path, config=CONFIG.replace("value: 4\n", "value: four\n"))
    (line,) = ingest(folder, "--json").lines
    (found,) = [each for each in line["problems"] if each["code"] == "wrong_file"]
    assert (found["path"].rpartition("/")[2], found["line"]) == ("config.yaml", 24)


def test_the_name_of_a_folder_is_not_stated_with_the_folders_of_a_machine(
    tmp_path: Path, ingest: Callable[..., Called]
) -> None:
    for number, (path, model) in enumerate((("/data/models/tiny-lm", "tiny-lm"), ("./out/checkpoint-500", None))):
        folder = wandb_folder(tmp_path / str(number), config=CONFIG.replace("acme/tiny-lm", path))
        (line,) = ingest(folder, "--json").lines
        assert line["case"].get("model") == model


STATE = """{
  "best_metric": null,
  "global_step": 40,
  "log_history": [
    {
      "epoch": 1.0,
      "loss": 2.5,
      "step": 40
    },
    {
      "epoch": 1.0,
      "step": 40,
      "total_flos": 6.2e+20,
      "train_loss": 2.5,
      "train_runtime": 800.5,
      "train_samples_per_second": 31.979,
      "train_steps_per_second": 0.05
    }
  ],
  "max_steps": 40,
  "num_train_epochs": 1
}
"""


@pytest.mark.parametrize(
    ("name", "document", "facts"),
    [
        ("config.json", {"_name_or_path": "acme/tiny-lm", "model_type": "llama"}, {"model": "acme/tiny-lm"}),
        (
            "adapter_config.json",
            {"base_model_name_or_path": "acme/tiny-lm", "peft_type": "LORA", "r": 16},
            {"model": "acme/tiny-lm", "lora_rank": 16},
        ),
        ("config.json", {"model_type": "llama"}, {}),
    ],
)
def test_a_folder_of_the_trainer_names_its_model(
    tmp_path: Path, ingest: Callable[..., Called], name: str, document: dict[str, Any], facts: dict[str, Any]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "trainer_state.json").write_text(STATE)
    (out / name).write_text(json.dumps(document))
    (out / "training_args.bin").write_bytes(b"\x80\x04")
    (line,) = ingest(out, "--json").lines
    assert line["format"] == "frameworks.hf_trainer_state"
    found = {fact: each["value"] for fact, each in line["facts"].items() if each["source"] == "folder"}
    assert found == facts
