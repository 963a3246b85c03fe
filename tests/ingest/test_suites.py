"""Spellings of models: each belongs to exactly one model."""

from pathlib import Path

import pytest

from perfledger.ingest.common import suites
from perfledger.ingest.common.toml_file import FileError


@pytest.mark.parametrize("spelled", ["ResNet50", "resnet50", "ResNet-50 v1.5", "ResNet50V1.5"])
def test_spellings_of_a_model_give_its_name(spelled: str) -> None:
    assert suites.model(spelled) == "ResNet-50 v1.5"
    assert suites.suite(spelled) == "resnet50"


@pytest.mark.parametrize("spelled", ["DeepLabV3", "ResNet-101", "BERT-large", "bert_config_large", "FCN"])
def test_another_model_keeps_its_name(spelled: str) -> None:
    """DeepLabV3 is DeepLabV3+ without the decoder, so the plus must not be ignored."""
    assert suites.model(spelled) == spelled
    assert suites.suite(spelled) is None


@pytest.mark.parametrize(
    ("format_id", "printed", "name"),
    [
        ("ngc.pytorch_resnet50", "resnet50", "ResNet-50 v1.5"),
        ("paddle.clas_dygraph", "ResNet50", "ResNet-50 v1.5"),
        ("frameworks.mxnet_fit", "resnet-50", "resnet-50"),  # of a repository of ResNet v2
        ("frameworks.keras", "resnet50", "resnet50"),
        ("frameworks.mlperf", "bert", "bert"),
        ("frameworks.hf_trainer", "gpt2", "gpt2"),
        ("frameworks.horovod_synthetic", "resnet50", "ResNet-50 v1.5"),  # of torchvision
        ("frameworks.horovod_synthetic", "ResNet50", "ResNet50"),  # of Keras
    ],
)
def test_a_printed_word_is_a_model_only_if_the_suite_declares_it(format_id: str, printed: str, name: str) -> None:
    assert suites.model_printed(format_id, printed) == name
    assert suites.suite_of_name(name) == ("resnet50" if name == "ResNet-50 v1.5" else None)


def test_every_declared_format_and_name_exists() -> None:
    from perfledger.parsers.engine.registry import formats

    ids = {each.id for each in formats()}
    declared = [suites.suite_file(path).data.printed for path in sorted(suites.SUITES.glob("*.toml"))]
    assert any(declared)
    assert {format_id for each in declared for format_id in each} <= ids


def test_a_declared_name_that_is_not_in_the_suite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (suites.SUITES / "gpt.toml").read_text("utf-8")
    (tmp_path / "gpt.toml").write_text(text.replace("[words]", '[printed]\n"a.b" = { x = "GPT-9" }\n\n[words]'))
    monkeypatch.setattr(suites, "SUITES", tmp_path)
    suites._printed.cache_clear()
    with pytest.raises(FileError, match="GPT-9"):
        suites.model_printed("a.b", "x")
    suites._printed.cache_clear()


def test_no_spelling_belongs_to_two_suites() -> None:
    import tomllib

    paths = sorted(suites.SUITES.glob("*.toml"))
    assert paths
    owners: dict[str, set[str]] = {}
    for path in paths:
        given = tomllib.loads(path.read_text("utf-8"))
        for models in (given["models"], *given.get("more", ())):
            for each in models:
                owners.setdefault(suites.folded(each), set()).add(f"{path.stem}: {models[0]}")
    assert {each: names for each, names in owners.items() if len(names) > 1} == {}


def test_models_that_share_a_page_stay_two_models() -> None:
    assert suites.suite("GPT-2 small") == suites.suite("GPT") == "gpt"
    assert suites.model("gpt2_small") == "GPT-2 small" != suites.model("GPT")
