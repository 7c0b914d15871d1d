"""Which bundle decides in this home, which one runs in its shadow, and what was in force before.

The state is one small file, replaced whole. A reader sees the old state or the new one; writers take turns under a
lock. Without the file the shipped bundle decides. An action is appended to the history and never taken out of it.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from policy.bundles.archive import BundleArchive
from policy.errors import BundleNotFound, BundleRejected

VERSION = 1
ACTIONS = ("publish", "rollback", "shadow", "unshadow")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done: `action` is one of ACTIONS, `digest` the bundle that it was done with, `at_ms` UTC.
    `replaced` is the bundle that decided until then; empty where nothing changed hands."""

    action: str
    digest: str
    at_ms: int
    replaced: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseState:
    """`active` None: the shipped bundle decides; `shadow` None: nothing runs beside it. Latest step last. `announced`
    is the bundle that is to decide next, while that is being put on the ledger."""

    active: str | None = None
    shadow: str | None = None
    history: tuple[Step, ...] = ()
    announced: str | None = None


@dataclass(frozen=True, slots=True)
class Releases:
    """The state of the home's policy in `<folder>/state.json`, and its archive in `<folder>/bundles/`."""

    folder: Path

    @property
    def archive(self) -> BundleArchive:
        """The bundles that can be activated."""
        return BundleArchive(self.folder / "bundles")

    @property
    def file(self) -> Path:
        """Changes whenever the state does."""
        return self.folder / "state.json"

    def state(self) -> ReleaseState:
        """The state as of now. Raises BundleRejected where the file is damaged: then nobody knows who decides."""
        try:
            document = json.loads(self.file.read_bytes())
            if document.get("version", VERSION) != VERSION:
                raise BundleRejected(f"{self.file} is of a version that this program does not read")
            return _state(document)
        except FileNotFoundError:
            return ReleaseState()
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as exc:
            raise BundleRejected(f"{self.file} cannot be read: {type(exc).__name__}") from exc

    def announce(self, digest: str) -> ReleaseState:
        """Say that the archived bundle of that digest is about to decide: whoever finds that on the ledger, and not yet
        done, may finish it. Raises BundleNotFound."""
        self.archive.path(digest)
        return self._write(lambda state: replace(state, announced=digest))

    def publish(self, digest: str, *, replaced: str, at_ms: int) -> ReleaseState:
        """Let the archived bundle of that digest decide, in place of `replaced`. Raises BundleNotFound."""
        return self._activate(Step("publish", digest, at_ms, replaced))

    def roll_back(self, digest: str, *, replaced: str, at_ms: int) -> ReleaseState:
        """The same for a bundle that was in force before. Raises BundleNotFound."""
        return self._activate(Step("rollback", digest, at_ms, replaced))

    def shadow(self, digest: str, *, at_ms: int) -> ReleaseState:
        """Let the archived bundle of that digest decide beside the active one, to no effect. Raises BundleNotFound."""
        self.archive.path(digest)
        return self._step(Step("shadow", digest, at_ms), lambda state: replace(state, shadow=digest))

    def unshadow(self, *, at_ms: int) -> ReleaseState:
        """End the shadow. Raises BundleNotFound where there is none."""
        running = self.state().shadow
        if running is None:
            raise BundleNotFound("no policy bundle runs in the shadow")
        return self._step(Step("unshadow", running, at_ms), lambda state: replace(state, shadow=None))

    def before(self) -> str:
        """The bundle that the active one replaced when it was published; so, rolling back again goes further back.
        Raises BundleNotFound where nothing was published."""
        state = self.state()
        for step in reversed(state.history):
            if step.action == "publish" and step.digest == state.active:
                return step.replaced
        raise BundleNotFound("no other policy bundle was in force before; name one by its digest")

    def _activate(self, step: Step) -> ReleaseState:
        self.archive.path(step.digest)
        return self._step(step, lambda state: replace(state, active=step.digest, announced=None))

    def _step(self, step: Step, change: Callable[[ReleaseState], ReleaseState]) -> ReleaseState:
        return self._write(lambda state: replace(change(state), history=(*state.history, step)))

    def _write(self, change: Callable[[ReleaseState], ReleaseState]) -> ReleaseState:
        with self._writing():
            state = change(self.state())
            _replace(self.file, json.dumps({"version": VERSION} | asdict(state), indent=1).encode())
        return state

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.folder / "state.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _state(document: Mapping[str, Any]) -> ReleaseState:
    steps = tuple(
        Step(str(e["action"]), str(e["digest"]), int(e["at_ms"]), str(e["replaced"])) for e in document["history"]
    )
    active, shadow, announced = document["active"], document["shadow"], document.get("announced")
    if not all(each is None or isinstance(each, str) for each in (active, shadow, announced)):
        raise TypeError("a digest is a text")
    if any(step.action not in ACTIONS for step in steps):
        raise ValueError("an unknown action")
    return ReleaseState(active, shadow, steps, announced)


def _replace(path: Path, content: bytes) -> None:
    """Write beside, on disk, then rename."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".state-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
