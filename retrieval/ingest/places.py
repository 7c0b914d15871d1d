"""Real paths of many files: each folder is looked up once."""

from __future__ import annotations

import os
from pathlib import Path


class RealPaths:
    """The real paths of files at one moment."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: Path, *, follow: bool) -> str:
        """The absolute path without links; a file that is a link itself keeps its own place, unless it is to be
        followed."""
        folder, name = os.path.split(path)
        if name in ("", ".", ".."):
            return str(path.resolve())
        if os.path.islink(path):  # noqa: PTH114  half the time, of every file of a tree
            return str(path.resolve() if follow else path.absolute())
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)  # noqa: PTH118
