"""The list of public logs that `make corpus` fetches, and the local copy of them."""

from __future__ import annotations

import pytest

from tests.corpus import corpus, files


def test_the_list_names_every_file_once_at_a_commit() -> None:
    found = files()
    assert len({each.file for each in found}) == len(found) > 100
    assert all(len(each.commit) >= 7 and len(each.sha256) == 64 for each in found)


@pytest.mark.parametrize("below", ["paddle-perf", "public"])
def test_the_local_corpus_equals_the_list(below: str) -> None:
    top = corpus(below).parent
    assert [each.file for each in files() if each.file.startswith(below) and not each.is_at(top)] == []
