"""Bytes that were sent in, kept under the home until they are taken in: `uploads/STATE/JOB/NAME`, for its owner alone.

The folder is part of a job's state, moved in one step: `open` while bytes arrive, `ready` once they are all here,
`kept` while files that were not taken in wait for another try. So a worker finds its work by listing one folder, and
whatever ends between two steps leaves a job that is still to be done, never one that is half here. In an encrypted home
the bytes and the list of the files are sealed, and the files have names of their own (`api.jobs.spool`).
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from api.errors import FieldProblem, HomeKeyMissing, NoSuchThing, RequestRejected
from api.home.encryption.settings import VAULT_FILE
from api.home.folder import UPLOADS
from api.jobs.spool import Spool
from retrieval.errors import LoadError
from retrieval.files.durable import sync_file, sync_folder, write_atomically
from retrieval.files.seal import PLAIN, Seal
from retrieval.ingest.formats.load import MAX_BYTES

OPEN, READY, KEPT = "open", "ready", "kept"
_LIST = ".files.json"
_LONGEST_NAME = 200  # bytes; file systems take 255
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\]")
_JOB = re.compile(r"[0-9a-f-]{36}")


@dataclass(frozen=True, slots=True)
class SentFile:
    """One file of a job: its name, the source that it is, its title, how many bytes it has, and the name that it has
    here, if that is another one."""

    name: str
    source_id: str
    title: str
    length: int
    stored: str = ""


def safe_name(name: str) -> str:
    """The name of a sent file, without folders. Raises RequestRejected for one that no file can have here."""
    last = re.split(r"[/\\]", name)[-1].strip()
    right = last.strip(".") and not last.startswith(".") and not _UNSAFE.search(last)
    if not right or len(last.encode("utf-8", "surrogatepass")) > _LONGEST_NAME or not _is_utf8(last):
        raise RequestRejected("A file's name is not valid.", [FieldProblem("file", "name", "not a name of a file")])
    return last


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


class Uploads:
    """The sent bytes of one home, kept under its seal. Methods block; OSError is raised as it comes."""

    def __init__(self, home: Path, seal: Seal = PLAIN) -> None:
        self._home = home
        self._root = home / UPLOADS
        self._seal = seal

    def folder(self, state: str, job_id: str) -> Path:
        """Where a job's files are in that state. Raises NoSuchThing for what is no id of a job."""
        if not _JOB.fullmatch(job_id):
            raise NoSuchThing("There is no such job.")
        return self._root / state / job_id

    def jobs(self, state: str) -> tuple[str, ...]:
        """The jobs in that state, the oldest first."""
        try:
            return tuple(sorted(each.name for each in os.scandir(self._root / state) if _JOB.fullmatch(each.name)))
        except FileNotFoundError:
            return ()

    def begin(self, job_id: str) -> Path:
        """Makes the folder that a job's bytes arrive in. Raises HomeKeyMissing in an encrypted home that was opened
        without its seal: nothing lies in it as it was sent."""
        if self._seal is PLAIN and (self._home / VAULT_FILE).exists():
            raise HomeKeyMissing("the home is encrypted, and its key was not given")
        folder = self.folder(OPEN, job_id)
        folder.mkdir(mode=0o700, parents=True)
        return folder

    def sent_file(self, name: str, source_id: str, length: int = 0) -> SentFile:
        """A file that is to be kept; in an encrypted home under a name that says nothing."""
        stored = "" if self._seal is PLAIN else secrets.token_hex(16)
        return SentFile(name, source_id, Path(name).stem or name, length, stored)

    def spool(self, state: str, job_id: str, sent: SentFile) -> Spool:
        """Where the bytes of a file of a job are in that state."""
        return Spool(self.folder(state, job_id) / (sent.stored or sent.name), self._seal, sent.source_id)

    def read(self, state: str, job_id: str, sent: SentFile) -> bytes:
        """The bytes of a file of a job. Raises LoadError where they are gone, too many, or not those that were sent."""
        if sent.length > MAX_BYTES:
            raise LoadError(f"{sent.name}: larger than {MAX_BYTES // 2**20} MiB")
        try:
            data = self.spool(state, job_id, sent).read()
        except FileNotFoundError:
            raise LoadError(f"{sent.name}: there is no such file") from None
        except (OSError, ValueError):
            raise LoadError(f"{sent.name}: cannot be read") from None
        if len(data) != sent.length:
            raise LoadError(f"{sent.name}: it is not as long as it was sent")
        if not data:
            raise LoadError(f"{sent.name}: the file is empty")
        return data

    @property
    def sealed(self) -> bool:
        """True if the bytes cannot be read from their files alone."""
        return self._seal is not PLAIN

    def describe(self, job_id: str, files: Sequence[SentFile], *, state: str = OPEN) -> None:
        """Writes down which files the job has."""
        write_atomically(
            self.folder(state, job_id) / _LIST, self._seal.sealed(orjson.dumps([asdict(each) for each in files]))
        )

    def files(self, state: str, job_id: str) -> tuple[SentFile, ...]:
        """The files of a job in that state; none where it is not in it. Raises ValueError for a list that was
        changed."""
        try:
            listed = orjson.loads(self._seal.opened((self.folder(state, job_id) / _LIST).read_bytes()))
        except FileNotFoundError:
            return ()
        return tuple(SentFile(**each) for each in listed)

    def move(self, job_id: str, before: str, after: str) -> None:
        """Takes a job from one state to the next, durably and in one step."""
        old, new = self.folder(before, job_id), self.folder(after, job_id)
        for each in old.iterdir():
            sync_file(each)
        sync_folder(old)
        new.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        old.rename(new)
        sync_folder(new.parent)

    def end(self, job_id: str, *, kept: Sequence[str] = ()) -> None:
        """Removes a job's bytes but those of the files of these names, which wait for another try."""
        ready = self.folder(READY, job_id)
        left = [each for each in self.files(READY, job_id) if each.name in kept]
        if not left:
            self.remove(job_id)
            return
        stays = {_LIST, *(each.stored or each.name for each in left)}
        for each in ready.iterdir():
            if each.name not in stays:
                each.unlink()
        self.describe(job_id, left, state=READY)
        self.move(job_id, READY, KEPT)

    def take_again(self, job_id: str, new_id: str) -> tuple[SentFile, ...]:
        """Makes the kept files of one job those of a new one, which is ready. Raises NoSuchThing where none are
        kept."""
        old, new = self.folder(KEPT, job_id), self.folder(READY, new_id)
        new.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            old.rename(new)
        except FileNotFoundError:
            raise NoSuchThing("No file of this job waits for another try.") from None
        sync_folder(new.parent)
        return self.files(READY, new_id)

    def remove(self, job_id: str) -> None:
        """Removes everything that is kept of a job."""
        for state in (OPEN, READY, KEPT):
            shutil.rmtree(self.folder(state, job_id), ignore_errors=True)

    def size(self) -> int:
        """The bytes that wait, in any state; of an upload that is not whole, those that were announced."""
        return sum(self._size(state, job_id) for state in (OPEN, READY, KEPT) for job_id in self.jobs(state))

    def count(self) -> int:
        """The jobs that wait, in any state."""
        return sum(len(self.jobs(state)) for state in (OPEN, READY, KEPT))

    def _size(self, state: str, job_id: str) -> int:
        here = {path.name: found.st_size for path, found in _found(self.folder(state, job_id)) if path.name != _LIST}
        announced = {each.name: each.length for each in self.files(state, job_id) if state == OPEN}
        return sum(max(here.get(name, 0), announced.get(name, 0)) for name in here.keys() | announced.keys())

    def older_than(self, seconds: float, state: str) -> tuple[str, ...]:
        """The jobs in that state that nothing was written to for so long."""
        now_s = time.time()
        return tuple(job for job in self.jobs(state) if now_s - _written_s(self.folder(state, job)) > seconds)

    def forget(self, source_id: str) -> int:
        """Removes the bytes of a source wherever they wait; returns how many files went."""
        gone = 0
        for state in (OPEN, READY, KEPT):
            for job_id in self.jobs(state):
                files = self.files(state, job_id)
                erased = [each for each in files if each.source_id == source_id]
                for each in erased:
                    self.spool(state, job_id, each).path.unlink(missing_ok=True)
                gone += len(erased)
                if erased:
                    self.describe(job_id, [each for each in files if each not in erased], state=state)
        return gone


def _written_s(folder: Path) -> float:
    """When something was last written there, in seconds since 1970; infinite where the folder has gone meanwhile."""
    try:
        return max(folder.stat().st_mtime, *(found.st_mtime for _, found in _found(folder)), 0.0)
    except FileNotFoundError:
        return float("inf")


def _found(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of a folder, without those that another process moves or removes meanwhile."""
    try:
        paths = list(folder.iterdir())
    except FileNotFoundError:
        return
    for path in paths:
        with suppress(FileNotFoundError):
            yield path, path.stat()


def source_of(tenant: str, owner: str, collection: str, name: str) -> str:
    """The id of the source that a principal's file of that name is in a collection: nobody else's file is the same
    source, so nothing that is sent replaces or meets what its sender may not see."""
    told = hashlib.sha256("\n".join((tenant, owner, collection, name)).encode()).hexdigest()[:12]
    slug = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")[:60] or "file"
    return f"{slug}.{told}"
