"""The `opa` program: where it is, and running it. Editing Rego needs it; nothing else does."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from policy.errors import InputRejected, PolicyError

OPA_VERSION = "1.22.0"
TIMEOUT_S = 300
HINT = (
    f"install it with `go install github.com/open-policy-agent/opa@v{OPA_VERSION}`, "
    "then set EXHIBIT_OPA_BIN or put it on the PATH"
)


class OpaMissing(PolicyError):
    """There is no `opa` program, or one of another version."""


class OpaFailed(InputRejected):
    """The `opa` program found a fault in what it was given; the text is its own."""


@dataclass(frozen=True, slots=True)
class Opa:
    """The program at `path`, whose version is OPA_VERSION."""

    path: Path

    def run(self, *arguments: str, cwd: Path, stdin: bytes = b"", accept: Sequence[int] = (0,)) -> bytes:
        """Its standard output. Raises OpaFailed on an exit status that is not in `accept`."""
        command = [str(self.path), *arguments]
        try:
            done = subprocess.run(  # noqa: S603
                command, cwd=cwd, input=stdin, capture_output=True, check=False, timeout=TIMEOUT_S
            )
        except subprocess.TimeoutExpired as exc:
            raise OpaFailed(f"`opa {arguments[0]}` took longer than {TIMEOUT_S} s") from exc
        except OSError as exc:
            raise OpaFailed(f"`opa` could not be run in {cwd}: {exc.strerror}") from exc
        if done.returncode not in accept:
            raise OpaFailed((done.stderr or done.stdout).decode("utf-8", "replace").strip())
        return done.stdout


def find_opa() -> Opa:
    """The program that EXHIBIT_OPA_BIN names, else the one on the PATH. Raises OpaMissing with a hint: also for a file
    that is no program, or another one."""
    place = os.environ.get("EXHIBIT_OPA_BIN") or shutil.which("opa")
    if not place or not Path(place).is_file():
        raise OpaMissing(f"no `opa` {OPA_VERSION} found: {HINT}")
    opa = Opa(Path(place).resolve())
    try:
        first = opa.run("version", cwd=opa.path.parent).decode("utf-8", "replace").partition("\n")[0].strip()
    except OpaFailed as exc:
        raise OpaMissing(f"{opa.path} is not `opa` {OPA_VERSION}: {HINT}") from exc
    if first != f"Version: {OPA_VERSION}":
        found = first.removeprefix("Version: ")[:40] or "no version"
        raise OpaMissing(f"`opa` {OPA_VERSION} is needed, found {found}: {HINT}")
    return opa
