"""Copies of the shipped policy bundle with other data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from policy.bundles.bundle import SHIPPED
from policy.data import DATA_PATH


def edited(folder: Path, edit: Callable[[dict[str, Any]], object]) -> Path:
    """The shipped bundle in `folder`, over data that `edit` changed; the folder."""
    for part in ("rego", "wasm", "vectors"):
        shutil.copytree(SHIPPED / part, folder / part)
    path = folder / "rego" / DATA_PATH
    data = json.loads(path.read_text("utf-8"))
    edit(data)
    path.write_text(json.dumps(data), "utf-8")
    return folder
