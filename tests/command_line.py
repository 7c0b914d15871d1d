"""Commands of `exhibit` in this process, as somebody gives them whose environment holds no setting."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from api.cli.main import run

Run = Callable[..., tuple[int, str, str]]
"""Takes the words of a command; gives exit code, stdout and stderr."""


def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes every setting out of the environment."""
    for name in list(os.environ):
        if name.startswith("EXHIBIT_") and name != "EXHIBIT_CACHE":
            monkeypatch.delenv(name)


def command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *last: object) -> Run:
    """Runs commands, each with the words `last` at its end. None may show a traceback."""
    without_settings(monkeypatch)

    def command(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(word) for word in (*words, *last)])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return command
