"""Options of a case in words: `image size 64, threads 1, DALI off`. Keys and data files keep `options_text`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perfledger.ingest.common import numbers
from perfledger.ingest.common.words import Phrase, Text, phrase, word_for
from perfledger.schema.vocabulary import FACTS

#: Ways of cutting a model or its batch: at 1 they are not used.
_PARTS = ("micro_batch", "pipeline_parallel", "tensor_parallel", "data_parallel", "expert_parallel", "context_parallel")
_SWITCHES = {"true": "table.on", "yes": "table.on", "false": "table.off", "no": "table.off"}


def in_words(options: Mapping[str, object], names: Iterable[str] | None = None) -> Text:
    """Return options with their values in words, with `names` only those; empty without options."""
    chosen = _informative(options) if names is None else {*names} & options.keys()
    return listed(phrase("table.option", name=name_of(each), value=value_of(options[each])) for each in sorted(chosen))


def _informative(options: Mapping[str, object]) -> Iterable[str]:
    """Return the names of options that are used, without a memory format that repeats the data layout."""
    layout = str(options.get("data_format", "")).casefold()
    for name, value in options.items():
        if not (name in _PARTS and value == 1) and not (name == "memory_format" and str(value).casefold() == layout):
            yield name


def listed(texts: Iterable[Text]) -> Text:
    """Return texts as one, with the comma of the language between them; empty ones are left out."""
    return _together("table.and", texts)


def joined(texts: Iterable[Text]) -> Text:
    """Return texts as one, with a dot between them; empty ones are left out."""
    return _together("table.dot", texts)


def sentences(texts: Iterable[Text]) -> Text:
    """Return sentences one after the other; empty ones are left out."""
    return _together("table.sentences", texts)


def _together(key: str, texts: Iterable[Text]) -> Text:
    found: Text = ""
    for each in texts:
        if each:
            found = phrase(key, first=found, second=each) if found else each
    return found


def name_of(option: str) -> Phrase:
    """Return what the vocabulary calls an option; one that only sources state has a word of its own."""
    return word_for("fact" if option in FACTS else "option", option)


def value_of(value: object) -> Text:
    """Return the value of an option: that a switch is on or off, a word that is known, or else what is stated."""
    text = numbers.quantity(value)
    switch = _SWITCHES.get(text.lower())
    return phrase(switch) if switch else word_for("option_value", text)
