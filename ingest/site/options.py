"""Options of a case in words: `image size 64, threads 1, DALI off`. Keys and data files keep `options_text`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, Text, phrase, word_for
from perfledger.schema.vocabulary import FACTS

#: Ways of cutting a model or its batch: at 1 they are not used.
_PARTS = ("micro_batch", "pipeline_parallel", "tensor_parallel", "data_parallel", "expert_parallel", "context_parallel")
_SWITCHES = {"true": "table.on", "yes": "table.on", "false": "table.off", "no": "table.off"}


def in_words(options: Mapping[str, Any], names: Iterable[str] | None = None) -> Text:
    """Return options with their values in words, with `names` only those; empty without options."""
    chosen = _informative(options) if names is None else {name: options[name] for name in names if name in options}
    return listed(_option(name, value) for name, value in sorted(chosen.items()))


def _informative(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Drop options that are not used, and a memory format that repeats the data layout."""
    layout = str(options.get("data_format", "")).casefold()
    return {
        name: value
        for name, value in options.items()
        if not (name in _PARTS and value == 1) and not (name == "memory_format" and str(value).casefold() == layout)
    }


def listed(texts: Iterable[Text]) -> Text:
    """Return texts as one, with the comma of the language between them; empty ones are left out."""
    empty: Text = ""
    return reduce(_and, (each for each in texts if each), empty)


def joined(texts: Iterable[Text]) -> Text:
    """Return texts as one, with a dot between them; empty ones are left out."""
    empty: Text = ""
    return reduce(_dot, (each for each in texts if each), empty)


def name_of(option: str) -> Phrase:
    """Return what the vocabulary calls an option; one that only sources state has a word of its own."""
    return word_for("fact" if option in FACTS else "option", option)


def value_of(value: object) -> Text:
    """Return the value of an option: that a switch is on or off, a word that is known, or else what is stated."""
    text = numbers.quantity(value)
    switch = _SWITCHES.get(text.lower())
    return phrase(switch) if switch else word_for("option_value", text)


def _option(name: str, value: object) -> Text:
    return phrase("table.option", name=name_of(name), value=value_of(value))


def _dot(first: Text, second: Text) -> Text:
    return phrase("table.dot", first=first, second=second) if first else second


def _and(first: Text, second: Text) -> Text:
    return phrase("table.and", first=first, second=second) if first else second
