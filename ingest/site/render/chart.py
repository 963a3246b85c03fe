"""A chart: what draws it, and the words that are put into the drawing and around it, in one language."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from xml.sax.saxutils import escape, quoteattr

from ingest.common.errors import UsageError
from ingest.common.words import Phrase, Words
from ingest.site.render.text import plain

DESCRIBED = 24  # values read out to those who cannot see the chart
#: A token stands for a word in a drawing; dots keep room for a long one.
_TOKEN = re.compile(r"@([a-z_]+)\.*@")


@dataclass(frozen=True)
class Chart:
    """One chart: its file's name, what draws it of which data, and its words. `values` are its description."""

    name: str
    draw: partial[str]
    title: Phrase
    text: str
    values: tuple[Phrase, ...] = ()
    args: tuple[tuple[str, object], ...] = ()

    def described(self, words: Words, language: str) -> str:
        """Return the caption with the charted values, for screen readers."""
        values = " ".join(words.say(language, each) for each in self.values[:DESCRIBED])
        return words.text(language, self.text, **{**dict(self.args), "values": values}).strip()

    def caption(self, words: Words, language: str) -> str:
        """Return the caption for those who see the chart."""
        return words.text(language, self.text, **{**dict(self.args), "values": ""}).strip()

    def localised(self, svg: str, words: Words, language: str) -> str:
        """Return its drawing with the words of one language.

        Raises:
            ChartError: the drawing has a token for which there is no word.
        """

        def word_of(token: str) -> str | None:
            key = "site.unknown" if token == "unknown" else f"chart.{token}"
            return words.text(language, key) if words.has(key) else None

        return localise(svg, self.name, word_of, words.say(language, self.title), self.described(words, language))


class ChartError(UsageError):
    """A chart asks for a word that nobody gives it; a mistake in one of our own modules."""


def literal(text: str) -> str:
    """Return text from a log or a case so that nothing in it is taken for a token, and that XML can hold."""
    return _TOKEN.sub(lambda found: found[0].replace("@", "＠"), plain(text))


def localise(svg: str, name: str, word_of: Callable[[str], str | None], title: str, description: str) -> str:
    """Put a chart into one language: tokens become words, ids get a prefix, and screen readers get title and text.

    Args:
        svg: the drawing.
        name: the chart's name; ids are made of it, since a page may hold several charts.
        word_of: returns the word for a token; None where there is none.
        title: the chart's title.
        description: what a screen reader says.

    Raises:
        ChartError: the drawing has a token for which there is no word.
    """

    def word(found: re.Match[str]) -> str:
        if (text := word_of(found[1])) is None:
            raise ChartError(
                f"chart {name!r}: there is no word for the token @{found[1]}@; add it to [chart] in"
                " report_templates/words.toml"
            )
        return escape(text)

    svg = _TOKEN.sub(word, svg)
    referenced = sorted(set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg)))
    prefix = f"c{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    svg = re.sub(r' id="([^"]+)"', lambda found: f' id="{prefix}{found[1]}"' if found[1] in referenced else "", svg)
    svg = re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}", svg)
    label = f' role="img" aria-label={quoteattr(plain(title))}'
    head = f"<title>{escape(plain(title))}</title><desc>{escape(plain(description))}</desc>"
    return re.sub(r"<svg ([^>]*)>", lambda found: f"<svg{label} {found[1]}>\n{head}", svg, count=1)
