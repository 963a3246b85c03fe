"""Hardware as readers know it: products by family and model, and accelerators told from processors."""

from __future__ import annotations

import pytest

from perfledger.ingest.common.words import own
from perfledger.ingest.site import hardware_names

WORDS = own()


@pytest.mark.parametrize(
    ("stated", "english", "chinese"),
    [
        ("AMD EPYC (family 25, model 17), 2 cores (CPU)", "AMD EPYC Genoa, 2 cores", "AMD EPYC Genoa，2 核"),
        ("AMD EPYC (family 26, model 2), 2 cores (CPU)", "AMD EPYC Turin, 2 cores", "AMD EPYC Turin，2 核"),
        ("Intel(R) Xeon(R) (family 6, model 143), 8 cores (CPU)", "Intel(R) Xeon(R) Sapphire Rapids, 8 cores", None),
        ("Intel Xeon (Skylake, IBRS) (family 6, model 85), 8 cores (CPU)", None, None),
        ("AMD EPYC-Milan (family 25, model 1), 4 cores (CPU)", None, None),
        ("AMD EPYC (family 99, model 1), 4 cores (CPU)", None, None),
        ("Another (family 25, model 17), 4 cores (CPU)", None, None),
        ("AMD EPYC (family 25, model 17)", None, None),
        ("V100-SXM2-32GB", None, None),
        ("", "Hardware not known", "硬件未知"),
    ],
)
def test_a_processor_is_named_by_its_product_and_all_else_as_stated(
    stated: str, english: str | None, chinese: str | None
) -> None:
    found = hardware_names.product(stated)
    assert WORDS.say("en", found) == (english or stated)
    assert WORDS.say("zh", found) == (chinese or english or stated).replace(
        ", 8 cores", "，8 核" if english else ", 8 cores"
    )
    assert hardware_names.raw(stated) == (stated if english and stated else "")


def test_no_two_numbers_of_a_maker_have_one_name() -> None:
    for maker, products in hardware_names._names().products.items():
        assert len(set(products.values())) == len(products) > 5, maker


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("V100-SXM2-32GB", True), ("Tesla V100", True), ("MI355X", True), ("GB300", True),
        ("NVIDIA A100-SXM4-40GB", True), ("test-gpu", True), ("", False), ("Xeon Gold 5117", False),
        ("AMD EPYC (family 25, model 17), 2 cores (CPU)", False), ("A CPU, 4 cores (CPU)", False),
    ],
)  # fmt: skip
def test_accelerators_are_told_from_processors(name: str, is_one: bool) -> None:
    assert hardware_names.is_accelerator(name) == is_one


@pytest.mark.parametrize(
    ("name", "group"), [("", ""), ("Xeon Gold 5117", "Processors"), ("V100-SXM2-32GB", "NVIDIA Volta")]
)
def test_hardware_without_a_name_is_in_no_group(name: str, group: str) -> None:
    assert WORDS.say("en", hardware_names.group(name)) == group
