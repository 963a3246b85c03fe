"""Contents that are made and not written yet: the same from memory and from a file."""

from __future__ import annotations

import errno

import pytest

from perfledger.ingest.site import spool
from perfledger.ingest.site.spool import Spool


@pytest.mark.parametrize("in_memory", [1, 10, 1 << 20])
def test_contents_come_back_in_their_order(monkeypatch: pytest.MonkeyPatch, in_memory: int) -> None:
    monkeypatch.setattr(spool, "IN_MEMORY", in_memory)
    given = {"b": b"first", "a": b"", "c": bytes(range(256)) * 50}
    with Spool() as found:
        found.update(given)
        found["b"] = b"another"
        assert list(found.items()) == [("b", b"another"), ("a", b""), ("c", given["c"])]
        del found["a"]
        assert ("a" in found, "c" in found, len(found)) == (False, True, 2)
        assert found.get("a", b"-") == b"-"


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def seek(self, *_: int) -> int:
            return 0

        def write(self, _: bytes) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(spool.tempfile, "SpooledTemporaryFile", lambda **_: Full())
    monkeypatch.setattr(spool.tempfile, "gettempdir", lambda: "/there")
    with Spool() as found, pytest.raises(OSError, match="No space left") as told:
        found["a"] = b"content"
    assert told.value.filename == "/there"
