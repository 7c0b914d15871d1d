"""The version of this software; the package takes it from here (docs/releasing.md)."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.2.0.dev0"
