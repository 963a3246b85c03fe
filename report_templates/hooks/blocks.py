"""MkDocs hook: the HTML of templates goes round Markdown, which would read every tag of it, to find nothing.

In it, and in the HTML of pages in Markdown, links to Markdown files become links to pages, which MkDocs does for
Markdown alone, and tables without a caption are labelled by the heading above them.
"""

from __future__ import annotations

import logging
import posixpath
import re
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

from markdown.extensions.toc import nest_toc_tokens, slugify, unique  # type: ignore[import-untyped]
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.toc import get_toc

LOG = logging.getLogger("mkdocs.hooks.blocks")
#: Browsers show white space around line ends as one blank; in preformatted text they show all of it.
_PREFORMATTED = re.compile(r"(<pre\b.*?</pre>|<textarea\b.*?</textarea>)", re.DOTALL)
_ID = re.compile(r' id="([^"]+)"')
_LINK = re.compile(
    r'(?P<before> (?:href|src)=")(?![a-z][a-z0-9+.-]*:|/)'
    r'(?P<file>[^"#?&]+\.(?:md|html|csv|jsonl?|svg|png))(?P<anchor>[?#][^"]*?)?(?=")'
)
#: A heading, or a table with the caption directly above it.
_LABELS = re.compile(
    r'<(?:h[1-6] id="(?P<heading>[^"]+)"|(?:(?P<caption>p class="pl-caption")>(?P<text>(?:(?!</p>).)*</p>)\s*<)?'
    r'(?P<table>div class="pl-table"(?: data-search-exclude)?>\s*(?:<div class="pl-tools"></div>\s*)?'
    r'<div class="pl-scroll"><table[^>]*>))',
    re.DOTALL,
)
_HEADING = re.compile(r'<h(?P<level>[1-6])(?: id="(?P<id>[^"]+)")?(?P<rest>[^>]*)>(?P<text>.*?)</h(?P=level)>')
_TAG = re.compile(r"<[^>]+>")
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n')
_UNLABELLED = re.compile(r'<table class="pl-grid"(?= data-name="([^"]+)")')


@event_priority(100)
def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Resolve the links in HTML. A page that is HTML (`html: true` in its front matter) is empty for Markdown.

    Raises:
        PluginError: the page has no metadata, which MkDocs would print at its head if it could not read it.
    """
    if not page.meta:
        raise PluginError(f"{page.file.src_uri}: the front matter is missing or cannot be read; run ingest again")
    page.anchors = {}
    written = resolve(markdown, page, files)
    if not page.meta.get("html"):
        return written
    page.render = partial(_render, page, written)
    return ""


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Label the tables, and give MkDocs the anchors in HTML and the links to them."""
    page.present_anchor_ids = {*(page.present_anchor_ids or ()), *_ID.findall(html)}
    for file, links in (page.links_to_anchors or {}).items():
        page.anchors.setdefault(file, {}).update(links)
    page.links_to_anchors = page.anchors
    return label(html)


@event_priority(100)
def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Leave out the blanks around line ends, two kilobytes of a page."""
    parts = _PREFORMATTED.split(output)
    parts[::2] = map(_tight, parts[::2])
    return "".join(parts)


def on_post_build(config: Any) -> None:
    """Fit the pages of logs, which MkDocs copies as they are, to a site without folders or one read from the disk."""
    for page in sorted(Path(config["site_dir"], "logs").glob("*.html")) if not config["use_directory_urls"] else ():
        text = page.read_text("utf-8")
        text = re.sub(r'href="(\.\./(?:zh/)?runs/[^"/?]+)/"', r'href="\1.html"', text, count=2)
        text = text.replace('href="../"', 'href="../index.html"', 1)
        page.write_text(_POLICY.sub("", text, count=1) if config["extra"].get("offline") else text, "utf-8")


def resolve(html: str, page: Any, files: Any) -> str:
    """Replace links to files of the documentation by links to what MkDocs makes of them."""
    return _LINK.sub(lambda link: _resolved(link, page, files), html)


def label(html: str) -> str:
    """Label tables by the caption or else the heading above them."""
    heading = ""

    def labelled(found: re.Match[str]) -> str:
        nonlocal heading
        heading = found["heading"] or heading
        if not found["table"] or not (name := _UNLABELLED.search(found["table"])):
            return found[0]
        by = f"{name[1]}-caption" if found["caption"] else heading
        table = _UNLABELLED.sub(f'{name[0]} aria-labelledby="{by}"', found["table"], count=1) if by else found["table"]
        caption = f'<{found["caption"]} id="{by}">{found["text"]}\n' if found["caption"] else ""
        return f"{caption}<{table}"

    return _LABELS.sub(labelled, html)


def _tight(html: str) -> str:
    """Return HTML without blanks around line ends, and without empty lines."""
    first, *others = html.split("\n")
    if not others:
        return html
    between = [stripped for line in others[:-1] if (stripped := line.strip())]
    return "\n".join([first.rstrip(), *between, others[-1].lstrip()])


def _render(page: Any, written: str, config: Any, files: Any) -> None:
    """Set what MkDocs would set from Markdown."""
    page.present_anchor_ids = set(_ID.findall(written))
    headings: list[dict[str, str | int]] = []

    def linked(found: re.Match[str]) -> str:
        level, text = found["level"], found["text"]
        name = _TAG.sub("", text)
        anchor = found["id"] or unique(slugify(unescape(name), "-"), page.present_anchor_ids)
        headings.append({"level": int(level), "id": anchor, "name": name})
        link = f'<a class="headerlink" href="#{anchor}" title="Permanent link">&para;</a>'
        return f'<h{level} id="{anchor}"{found["rest"]}>{text}{link}</h{level}>'

    page.content = _HEADING.sub(linked, written)
    page.toc = get_toc(nest_toc_tokens(headings))


def _resolved(link: re.Match[str], page: Any, files: Any) -> str:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), link["file"]))
    file = files.src_uris.get(target) or files.get_file_from_path(target)  # the second way is slow
    if file is None:
        LOG.warning("Doc file '%s' contains a link '%s', but there is no such page.", page.file.src_uri, link["file"])
        return link[0]
    if anchor := (link["anchor"] or "").partition("#")[2]:
        page.anchors.setdefault(file, {})[anchor] = link["file"] + link["anchor"]
    return f"{link['before']}{file.url_relative_to(page.file)}{link['anchor'] or ''}"
