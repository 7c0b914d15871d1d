"""The home is its owner's alone, whoever made the folder, and doctor says when it is not."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from api.cli.main import run


def open_to_others(home: Path) -> list[str]:
    paths = (home, *home.rglob("*"))
    return [str(path.relative_to(home)) for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "mill.md"
    path.write_text("# The mill\n\nThe mill burnt down in 1903.\n", "utf-8")
    return path


@pytest.fixture(autouse=True)
def loose_mask() -> object:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o750, 0o700, None])
def test_a_home_is_closed_to_others_whoever_made_the_folder(
    mode: int | None, document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    if mode is not None:
        home.mkdir()
        home.chmod(mode)
    assert run(["ingest", str(document), "--collection", "c", "--label", "public", "--home", str(home)]) == 0
    assert run(["ask", "When did the mill burn down?", "--home", str(home)]) == 0
    capsys.readouterr()
    assert open_to_others(home) == []


def test_a_home_of_an_earlier_version_is_closed_when_it_is_opened_and_doctor_says_so(
    document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    ingest = ["ingest", str(document), "--collection", "c", "--label", "public", "--home", str(home)]
    assert run(ingest) == 0
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    capsys.readouterr()
    assert run(["doctor", "--home", str(home), "--json"]) == 1
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["home"]["state"] == "failed"
    assert found["home"]["next"].startswith("chmod")
    assert run(["ask", "When did the mill burn down?", "--home", str(home)]) == 0
    assert open_to_others(home) == []
    capsys.readouterr()
    assert run(["doctor", "--home", str(home)]) == 0
