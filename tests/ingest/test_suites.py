"""Spellings of one model are one model, and of two models never."""

import pytest

from ingest.common import suites


@pytest.mark.parametrize("spelled", ["ResNet50", "resnet50", "ResNet-50 v1.5", "ResNet50V1.5"])
def test_spellings_of_one_model(spelled: str) -> None:
    assert suites.model(spelled) == "ResNet-50 v1.5"
    assert suites.suite(spelled) == "resnet50"


@pytest.mark.parametrize("spelled", ["DeepLabV3", "ResNet-101", "BERT-large", "bert_config_large", "FCN"])
def test_another_model_keeps_its_name(spelled: str) -> None:
    """DeepLabV3 is DeepLabV3+ without the decoder; to fold the plus away would put two networks into one table."""
    assert suites.model(spelled) == spelled
    assert suites.suite(spelled) is None


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
