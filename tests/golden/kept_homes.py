"""The homes of earlier versions, unpacked for tests: a folder for each version in `homes/`, never made again."""

from __future__ import annotations

import json
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HOMES = Path(__file__).parent / "homes"
VERSIONS = tuple(sorted(path.parent.name for path in HOMES.glob("*/home.tar.xz")))


@dataclass(frozen=True, slots=True)
class KeptHome:
    """One version's home and what lies beside it, in a folder that a test may change."""

    folder: Path
    recorded: dict[str, Any]

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def receipts(self) -> tuple[Path, ...]:
        """The receipt of each recorded question, in their order."""
        return tuple(sorted((self.folder / "receipts").iterdir()))


def unpack(version: str, folder: Path) -> KeptHome:
    """The kept home of a version, as that version left it."""
    with tarfile.open(HOMES / version / "home.tar.xz") as archive:
        archive.extractall(folder, filter="tar")  # with the modes: a key is for its owner alone
    return KeptHome(folder, _recorded(version))


@cache
def _recorded(version: str) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads((HOMES / version / "recorded.json").read_bytes())
    return recorded
