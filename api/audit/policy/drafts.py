"""Candidates: bundles in `<home>/policy/candidates/<name>/` that somebody works on. A draft is the bundle in force with
other data; for other rules an author puts a folder there, built by `exhibit policy build`."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from api.errors import NoSuchThing, RequestRejected
from policy.bundles.archive import copy_bundle
from policy.bundles.bundle import Bundle, load_bundle
from policy.data import DATA_PATH
from policy.errors import BundleRejected

NAME = r"^[a-z0-9][a-z0-9_-]{0,39}$"


@dataclass(frozen=True, slots=True)
class Drafts:
    """The candidates of a home, in `folder`, which need not exist."""

    folder: Path

    def names(self) -> tuple[str, ...]:
        """The names of all candidates, sorted."""
        if not self.folder.is_dir():
            return ()
        return tuple(sorted(each.name for each in self.folder.iterdir() if re.match(NAME, each.name) and each.is_dir()))

    def path(self, name: str) -> Path:
        """The folder of a candidate. Raises NoSuchThing."""
        if name not in self.names():
            raise NoSuchThing("There is no such candidate.")
        return self.folder / name

    def load(self, name: str) -> Bundle:
        """The candidate. Raises NoSuchThing, RequestRejected for one that is not whole."""
        return _loaded(self.path(name))

    def draft(self, name: str, *, base: Path, data: bytes) -> Bundle:
        """The bundle below `base` with other data, kept as the candidate of that name in the place of an earlier one.
        Raises RequestRejected for data that do not fit their schema."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as beside:
            made = Path(beside) / name
            copy_bundle(base, made)
            (made / "rego" / DATA_PATH).write_bytes(data)
            bundle = _loaded(made)
            if (self.folder / name).is_dir():
                (self.folder / name).rename(Path(beside) / ".before")
            made.rename(self.folder / name)
        return bundle


def _loaded(folder: Path) -> Bundle:
    try:
        return load_bundle(folder)
    except BundleRejected as exc:
        raise RequestRejected(str(exc)) from exc
