"""What a build prints: warnings and what concerns its user, not the steps of MkDocs and its plugins."""

from __future__ import annotations

import io
import logging

import pytest

from tests.hooks import hook


@pytest.mark.parametrize(
    ("level", "printed"),
    [(logging.INFO, ["a warning", "the logs changed"]), (logging.DEBUG, ["a step", "a warning", "the logs changed"])],
)
def test_a_build_prints_its_steps_only_if_it_is_asked_to(level: int, printed: list[str]) -> None:
    mkdocs, out = logging.getLogger("mkdocs"), io.StringIO()
    before, handler = mkdocs.level, logging.StreamHandler(out)
    mkdocs.addHandler(handler)
    mkdocs.setLevel(level)
    try:
        hook("pages").on_startup("build", dirty=False)
        logging.getLogger("mkdocs.plugins.i18n").info("a step")
        logging.getLogger("mkdocs.structure.pages").warning("a warning")
        logging.getLogger("mkdocs.hooks.pages").info("the logs changed")
    finally:
        mkdocs.removeHandler(handler)
        mkdocs.setLevel(before)
    assert out.getvalue().splitlines() == printed
