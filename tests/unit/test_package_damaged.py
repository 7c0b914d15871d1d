"""Bytes that are no answer package do not verify, whatever they are: the same code as of a receipt that is none."""

from __future__ import annotations

import io
import zipfile

import pytest

from api.problems import EXIT_VERIFICATION, problem_of
from api.web.answer_package import check_package
from ledger.errors import LedgerError


def _zip(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


WHOLE = _zip(a="one", b="two")
BYTES = {
    "nothing": b"",
    "text": b"hello",
    "JSON": b"{}",
    "deep JSON": b"[" * 100_000,
    "zeros": bytes(1000),
    "half a zip": WHOLE[: len(WHOLE) // 2],
    "a zip of other files": WHOLE,
    "an empty zip": _zip(),
    "something before a zip": b"\xff\xfe" + WHOLE,
    "two zips": WHOLE + WHOLE,
}


@pytest.mark.parametrize("name", BYTES)
def test_what_is_no_package_does_not_verify(name: str) -> None:
    with pytest.raises(LedgerError) as caught:
        check_package(BYTES[name], vkeys=["log+00000000+AA"])
    assert problem_of(caught.value).exit == EXIT_VERIFICATION


@pytest.mark.parametrize("name", ["something before a zip", "two zips"])
def test_bytes_before_the_archive_are_named(name: str) -> None:
    with pytest.raises(LedgerError, match="before its archive"):
        check_package(BYTES[name], vkeys=["log+00000000+AA"])
