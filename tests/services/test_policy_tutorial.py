"""The tutorial of docs/policy.md, step by step as it is written there: edits, commands, exit codes, what they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.cli.main import run
from tests.opa_server import pinned_opa

pytestmark = pytest.mark.services
GUIDE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")
STEP = re.compile(r"```(console|diff)(?: (\S+))?\n(.*?)```", re.DOTALL)


def steps() -> list[tuple[str, str, str]]:
    start = GUIDE.index("## From a changed rule to a published one")
    return STEP.findall(GUIDE[start : GUIDE.index("## Change a threshold")])


def apply(file: Path, diff: str) -> None:
    """The lines with a minus become the lines with a plus. They stand in one place, or the first of them is meant."""
    old = "\n".join(line[1:] for line in diff.splitlines() if line.startswith("-"))
    new = "\n".join(line[1:] for line in diff.splitlines() if line.startswith("+"))
    text = file.read_text("utf-8")
    assert old in text, f"{file}: {old}"
    file.write_text(text.replace(old, new, 1), "utf-8")


def test_every_step_of_the_tutorial(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    pytestconfig: pytest.Config,
) -> None:
    opa = pinned_opa(pytestconfig)
    monkeypatch.setenv("EXHIBIT_OPA_BIN", str(opa.path))
    monkeypatch.chdir(tmp_path)
    tried = 0
    for kind, file, content in steps():
        if kind == "diff":
            apply(tmp_path / file, content)
            continue
        for command in content.strip().split("$ exhibit ")[1:]:
            words, *shown = command.strip().splitlines()
            wanted = next((int(line[6:-1]) for line in shown if line.startswith("[exit ")), 0)
            code = run(words.split())
            out, err = capsys.readouterr()
            assert code == wanted, f"{words}: {out} {err}"
            for line in shown:
                assert line.startswith("[exit ") or line in out, f"{words}: {line!r} not in {out}"
            tried += 1
    assert tried > 10
