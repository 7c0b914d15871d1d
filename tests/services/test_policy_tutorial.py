"""The tutorial of docs/policy.md, step by step as it is written there: edits, commands, exit codes, what they print."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from api.cli.main import run
from tests.opa_server import pinned_opa

pytestmark = pytest.mark.services
GUIDE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")
STEP = re.compile(r"```(console|diff)\n(.*?)```", re.DOTALL)


def steps() -> list[tuple[str, str]]:
    start = GUIDE.index("## From a changed rule to a published one")
    return STEP.findall(GUIDE[start : GUIDE.index("## Change a threshold")])


def apply(folder: Path, diff: str) -> None:
    """As a reader does: the block saved as a file, `git apply`. Every file that it names is then another one."""
    named = [folder / each for each in re.findall(r"^\+\+\+ b/(\S+)$", diff, re.MULTILINE)]
    before = [each.read_bytes() for each in named]
    (folder / "step.diff").write_text(diff, "utf-8")
    subprocess.run(["git", "apply", "step.diff"], cwd=folder, check=True)
    assert named
    assert all(each.read_bytes() != was for each, was in zip(named, before, strict=True))


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
    for kind, content in steps():
        if kind == "diff":
            apply(tmp_path, content)
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
