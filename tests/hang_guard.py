"""Code run in a process of its own, which is ended when it does not come back: how a hang becomes a failed test.

The limit is far above what the code takes on a busy machine, so it measures nothing.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

LIMIT_S = 60


def run_guarded(code: str, *, stdin: str = "", arguments: Sequence[str] = ()) -> str:
    """What Python code prints; the test fails when it fails or is not done within the limit."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"not done within {LIMIT_S} s")
    assert done.returncode == 0, done.stderr
    return done.stdout
