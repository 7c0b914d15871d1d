"""A full disk and a home that may not be written: a coded error, nothing half-written, and once there is room the same command works."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.api_world import make_world

PREFIXES: dict[str, tuple[str, ...]] = {
    "full": ("unshare", "--map-root-user", "--mount"),
    "limit": (),
    # The superuser may write whatever its mode is, unless the right to do so is taken away.
    "mode": () if os.geteuid() else ("setpriv", "--bounding-set=-dac_override,-dac_read_search"),
}


def can_run(prefix: tuple[str, ...]) -> bool:
    probe = ("mount", "-t", "tmpfs", "tmpfs", "/mnt") if "--mount" in prefix else ("true",)
    found = not prefix or shutil.which(prefix[0]) is not None
    return found and subprocess.run([*prefix, *probe], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disk")
    asyncio.run(make_world(folder))
    return folder / "corpus" / "manifest.toml"


@pytest.mark.parametrize("kind", PREFIXES)
def test_what_cannot_be_written_is_a_coded_error_and_nothing_is_half_written(
    kind: str, manifest: Path, tmp_path: Path
) -> None:
    if not can_run(PREFIXES[kind]):
        pytest.skip(f"this machine does not allow {PREFIXES[kind][0]}")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EXHIBIT_") or k == "EXHIBIT_CACHE"}
    (tmp_path / "disk").mkdir()
    done = subprocess.run(
        [*PREFIXES[kind], sys.executable, "-m", "tests.small_disk", kind, str(tmp_path / "disk"), str(manifest)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, tuple[int, str, str]] = json.loads(done.stdout)
    hindered = {name: said for name, said in told.items() if "hindered" in name or name.startswith("ingest in")}
    for name, (code, out, err) in hindered.items():
        last = err.rstrip("\n").rpartition("\n")[2]
        assert code == 8, (name, out, err)
        assert last.split(": ")[1] in {"INDEX_NOT_READY", "LEDGER_UNAVAILABLE"}, (name, err)
        assert "Traceback" not in out + err
    assert {name: said for name, said in told.items() if name not in hindered and said[0] != 0} == {}
    assert json.loads(told["readiness"][1]) == [[200, "up"], [503, "down"], [200, "up"]]
    resumed = [json.loads(out) for name, (_, out, _) in told.items() if name.startswith("resume")]
    assert {r["manifest_hash"] for r in resumed} == {resumed[0]["manifest_hash"]}
    assert {file["state"] for r in resumed for file in r["files"]} <= {"done", "skipped"}
    assert told["list"][1] == told["list again"][1]
    assert json.loads(told["keys"][1]) == []
    assert body(told["ask"]) == body(told["ask again"])
    assert "85,200" in body(told["ask"])["answer"]


def body(said: tuple[int, str, str]) -> dict[str, Any]:
    """An answer without what differs each time."""
    whole: dict[str, Any] = json.loads(said[1])
    del whole["provenance"]["entry_id"], whole["provenance"]["receipt"]
    return {name: value for name, value in whole.items() if name not in ("request_id", "timings_ms", "promise")}
