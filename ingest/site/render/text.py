"""Text that came from outside never becomes markup: one escape for HTML and attributes, and safe slugs.

Everything a template prints goes through `escape` unless we made the markup ourselves (`markupsafe.Markup`).
Names from outside are on pages of HTML only, which Markdown does not read.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Iterable

from markupsafe import Markup

_HTML = str.maketrans({"&": "&#38;", "<": "&#60;", ">": "&#62;", '"': "&#34;"})
_TITLE = str.maketrans({"<": "‹", ">": "›", '"': "”", "'": "’", "`": "ˋ", "{": "（", "}": "）", "\\": "＼"})
#: An ampersand before a space begins no entity: `Wide & Deep` stays as it is.
_ENTITY = re.compile(r"&(?! )")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def plain(text: object) -> str:
    """Return one line of visible text: white space folded, control and direction characters spelled out."""
    line = " ".join(str(text).split())
    return line if line.isprintable() else "".join(map(_visible, line))


def escape(text: object) -> Markup:
    """Return text as HTML that shows exactly that text; markup of our own passes."""
    return text if isinstance(text, Markup) else _escaped(str(text))


@functools.lru_cache(maxsize=1 << 16)
def _escaped(text: str) -> Markup:
    """Escape a text. Cached, since pages repeat their texts: in both languages, in rows, and from run to run."""
    return as_data(plain(text))


def title(text: object) -> str:
    """Return text for a page's title, which the theme prints unescaped: signs of markup get look-alikes."""
    return _ENTITY.sub("＆", plain(text).translate(_TITLE))


def code(text: object) -> Markup:
    """Return inline code."""
    return Markup(f"<code>{escape(text)}</code>")


def code_block(lines: str) -> Markup:
    """Return a block of code or of a log with unchanged lines; signs of markup become entities.

    It is not searched: every page loads the index, which would consist mostly of samples of logs.
    """
    # &#10; instead of line breaks, since pages are written without blank lines.
    body = "&#10;".join(verbatim(line) for line in lines.splitlines() or [""])
    return Markup(f'<pre class="pl-code" data-search-exclude><code>{body}</code></pre>')


def verbatim(line: str) -> Markup:
    """Return one line of a block of code or of a log with its blanks."""
    line = line.expandtabs()
    seen = line if line.isprintable() else "".join(_visible(each) for each in line)
    return as_data(seen)


def as_data(text: str) -> Markup:
    """Return text for an attribute that a script reads: the script gets the same characters."""
    return Markup(text.translate(_HTML))


def slug(text: str) -> str:
    """Return `resnet-50-v1-5` for `ResNet-50 v1.5`; text without ASCII letters and digits is named by its hash."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_text.lower())
    return "-".join(words)[:80].strip("-") or f"x{digest(text)[:8]}"


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Return a slug per name; names that would share one, or that of an index, get their hash appended."""
    unique = sorted(set(names))
    shared = [slug(each) for each in unique]
    return {
        name: base if shared.count(base) == 1 and base != "index" else f"{base}-{digest(name)[:8]}"
        for name, base in zip(unique, shared, strict=True)
    }


def file_slug(identifier: str) -> str:
    """Return a run's id as a file name: ids are slugs already, and one that is not cannot leave its folder.

    The index of runs lies in that folder too.
    """
    if _SLUG.fullmatch(identifier) and len(identifier) <= 160 and identifier != "index":
        return identifier
    return f"{slug(identifier)}-{digest(identifier)[:8]}"


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _visible(character: str) -> str:
    if unicodedata.category(character) in _INVISIBLE:
        return f"\\u{ord(character):04x}"
    return character
