"""Ingest through the process in which files are read, as the command opens it: a file that ends that process costs its
own row, and what stands before and behind it is answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Run, command_line
from tests.hostile_files import hostile_files

PAGE = "<h1>The {name}</h1><p>The {name} was built in {year} by Ada Lind.</p>"
KILLING = ("attributes.html", "nested.gpkg", "years.csv")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return command_line(capsys, monkeypatch)


def test_a_file_that_ends_the_process_costs_its_own_row(
    cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EXHIBIT_INGEST__FILE_CPU_S", "1")
    monkeypatch.setenv("EXHIBIT_INGEST__FILE_MEMORY_MB", "192")
    files, home, hostile = tmp_path / "files", tmp_path / "home", hostile_files()
    files.mkdir()
    for name in KILLING:
        (files / name).write_bytes(hostile[name])
    (files / "a-first.html").write_text(PAGE.format(name="mill", year=1903), "utf-8")
    (files / "z-last.html").write_text(PAGE.format(name="weir", year=1911), "utf-8")
    code, out, _ = cli("ingest", files, "--label", "public", "--home", home, "--json")
    rows = {Path(row["path"]).name: row for row in json.loads(out)["files"]}
    assert code != 0 and rows.keys() == {*KILLING, "a-first.html", "z-last.html"}
    assert {name for name, row in rows.items() if row["state"] == "done"} == {"a-first.html", "z-last.html"}
    assert {rows[name]["error_code"] for name in KILLING} == {"LIMIT_EXCEEDED"}
    assert any("processor time" in rows[name]["error_message"] for name in KILLING), rows
    for name, year in (("mill", 1903), ("weir", 1911)):
        code, out, _ = cli("ask", f"When was the {name} built?", "--home", home, "--json")
        assert code == 0 and str(year) in json.loads(out)["answer"]
    listed = cli("source", "list", "--home", home)[1]
    assert "a-first.html" in listed and not any(name in listed for name in KILLING)
    assert cli("index", "verify", "--home", home)[0] == 0
