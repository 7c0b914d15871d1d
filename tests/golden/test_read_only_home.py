"""A home that may not be written, as auditors are given one: what was recorded is read, verified and exported, and what
would have to be recorded or signed says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ledger.errors import LedgerUnavailable
from ledger.stores.sqlite.schema import as_it_stands
from tests.command_line import Run, command_line

UNSHARE = ("unshare", "--map-root-user", "--mount")
MOUNT = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
RUN = """
import contextlib, io, json, sys
from api.cli.main import run
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as told, contextlib.redirect_stderr(told):
        code = run([*words, "--home", sys.argv[2]])
    print(json.dumps([code, told.getvalue()]))
"""


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return command_line(capsys, monkeypatch)


def mounted(home: Path, *commands: Sequence[str]) -> list[tuple[int, str]]:
    """Exit code and output of each command, in a process that may only read the file system with the home."""
    said = (*UNSHARE, "sh", "-c", MOUNT, str(home), sys.executable, "-c", RUN, json.dumps(commands), str(home))
    told = subprocess.run(said, capture_output=True, text=True, timeout=300, check=True)
    return [(code, text) for code, text in map(json.loads, told.stdout.splitlines())]


@pytest.fixture
def home(cli: Run, tmp_path: Path) -> tuple[Path, str]:
    """A home with an answer, and the id of its entry."""
    home = tmp_path / "home"
    (tmp_path / "mill.md").write_text("# The mill\n\nThe mill burnt down in 1903.\n", "utf-8")
    assert cli("ingest", tmp_path / "mill.md", "--label", "public", "--home", home)[0] == 0
    code, out, _ = cli("ask", "When did the mill burn down?", "--home", home, "--json")
    assert code == 0
    return home, json.loads(out)["provenance"]["entry_id"]


def read_only() -> bool:
    """True if this machine lets us make a file system that may only be read."""
    return shutil.which("unshare") is not None and not subprocess.call([*UNSHARE, "true"], stderr=subprocess.DEVNULL)


@pytest.mark.skipif(not read_only(), reason="this machine gives no file system of our own")
@pytest.mark.parametrize("signed", [True, False])
def test_what_was_recorded_is_read_where_nothing_may_be_written(
    signed: bool, home: tuple[Path, str], cli: Run, tmp_path: Path
) -> None:
    folder, entry_id = home
    if signed:
        assert cli("ledger", "checkpoint", "--home", folder)[0] == 0
        assert cli("ledger", "search", "--home", folder)[0] == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    naming = (
        ("ledger", "list"),
        ("ledger", "search"),
        ("ledger", "search", "--text", "burnt"),
        ("ledger", "show", entry_id),
    )
    reading = (("ledger", "verify"), ("policy", "explain", entry_id), ("source", "list"))
    signing = (
        ("ledger", "package", entry_id, "--out", str(tmp_path / "package")),
        ("ledger", "attest", entry_id, "--out", str(tmp_path / "attest")),
        ("ledger", "receipt", entry_id),
        ("ledger", "report", "--month", "2020-01"),
        ("replay", entry_id),
    )
    asked = ("ask", "When did the mill burn down?")
    *found, ask, doctor = mounted(folder, *naming, *reading, *signing, asked, ("doctor",))
    for words, (code, told) in zip((*naming, *reading), found, strict=False):
        assert code == 0 and (words not in naming or entry_id in told), (words, told)
    for words, (code, told) in zip(signing, found[len(naming) + len(reading) :], strict=True):
        assert (code == 0) == signed, (words, told)
        assert signed or words[0] == "replay" or "nothing is recorded or signed" in told
    assert ask[0] != 0 and "may not be written" in ask[1]
    assert doctor[0] == 1 and "cannot be written" in doctor[1]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_entries_beside_a_file_that_may_not_be_written_are_not_passed_over(
    home: tuple[Path, str], tmp_path: Path
) -> None:
    log = home[0] / "ledger.sqlite"
    assert as_it_stands(log).endswith("?immutable=1")
    Path(f"{log}-wal").write_bytes(os.urandom(64))
    with pytest.raises(LedgerUnavailable, match="copy the home"):
        as_it_stands(log)
