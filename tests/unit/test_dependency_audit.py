"""The audit of dependencies: a pin inside an advisory's range is found, one outside is not, and what cannot be read is
never taken for a clean result."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "deploy"))
from audit import advisories, affected  # noqa: E402


def record(name: str = "Some_Package", **affects: Any) -> dict[str, Any]:
    package = {"ecosystem": affects.pop("ecosystem", "PyPI"), "name": name}
    return {"id": "PYSEC-1", "aliases": ["CVE-1"], "summary": "Bad", "affected": [{"package": package, **affects}]}


def span(*events: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


@pytest.mark.parametrize(
    ("found", "version", "affects"),
    [
        (True, "1.5", span({"introduced": "0"})),
        (True, "1.5", span({"introduced": "0"}, {"fixed": "1.6"})),
        (False, "1.6", span({"introduced": "0"}, {"fixed": "1.6"})),
        (True, "1.6rc1", span({"introduced": "0"}, {"fixed": "1.6"})),
        (False, "1.4", span({"introduced": "1.5"}, {"fixed": "1.6"})),
        (True, "1.6", span({"introduced": "1.5"}, {"last_affected": "1.6"})),
        (False, "1.6.1", span({"introduced": "1.5"}, {"last_affected": "1.6"})),
        (True, "2.1", span({"introduced": "0"}, {"fixed": "1.6"}, {"introduced": "2.0"}, {"fixed": "2.2"})),
        (False, "1.9", span({"introduced": "2.0"}, {"fixed": "2.2"}, {"introduced": "0"}, {"fixed": "1.6"})),
        (True, "10.0", span({"introduced": "9.0"}, {"fixed": "10.1"})),
        (True, "1.5", {"versions": ["1.4", "1.5"]}),
        (False, "1.6", {"versions": ["1.4", "1.5"]}),
        (True, "1.5", {}),
        (True, "1.5", span({"introduced": "not a version"})),
        (False, "1.5", {"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}),
        (False, "1.5", {**span({"introduced": "0"}), "ecosystem": "npm"}),
    ],
)
def test_a_pin_is_affected_where_its_version_lies_in_the_range(
    found: bool, version: str, affects: dict[str, Any]
) -> None:
    assert bool(affected({"some-package": version}, [record(**affects)])) is found


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_a_range_is_half_open(introduced: int, fixed: int, version: int) -> None:
    events = span({"introduced": f"1.{introduced}"}, {"fixed": f"1.{fixed}"})
    told = affected({"some-package": f"1.{version}"}, [record(**events)])
    before_fix = version < fixed or introduced > fixed
    assert bool(told) is (version >= introduced and before_fix)


def audited(*arguments: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "deploy" / "audit.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def packed(path: Path, *records: Any) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for n, each in enumerate(records):
            file.writestr(f"{n}.json", json.dumps(each))
    return path


def test_the_locks_are_audited_and_an_affected_pin_is_named(tmp_path: Path) -> None:
    clean = audited(packed(tmp_path / "all.zip", record("nothing-of-ours", **span({"introduced": "0"}))))
    assert (clean.returncode, "0 affected" in clean.stdout) == (0, True), clean.stderr
    dirty = audited(packed(tmp_path / "all.zip", record("HTTPX", **span({"introduced": "0"}))))
    assert dirty.returncode == 1
    assert "httpx " in dirty.stdout
    assert "PYSEC-1 (CVE-1): Bad" in dirty.stdout


def test_a_withdrawn_advisory_is_none(tmp_path: Path) -> None:
    path = packed(tmp_path / "all.zip", record() | {"withdrawn": "2026-01-01T00:00:00Z"})
    assert list(advisories(path)) == []


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut off"])
def test_what_cannot_be_read_is_no_clean_result(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "all.zip").write_bytes(content)
    assert audited(tmp_path / "all.zip").returncode == 2
    assert audited(tmp_path / "nothing.zip").returncode == 2
    assert audited(packed(tmp_path / "empty.zip")).returncode == 2
    assert audited(packed(tmp_path / "list.zip", ["x"])).returncode == 2


def test_a_lock_that_is_none_is_no_clean_result(tmp_path: Path) -> None:
    (tmp_path / "some.lock").write_text("httpx>=1\n", "utf-8")
    assert audited(packed(tmp_path / "all.zip", record()), tmp_path / "some.lock").returncode == 2
