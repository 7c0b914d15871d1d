"""Parsers that not every installation has."""

from __future__ import annotations

import importlib
from typing import Any

from retrieval.errors import ReaderMissing


def extra(name: str, module: str, extra_name: str) -> Any:
    """The module that reads a file of that name. Raises `ReaderMissing`, which names the extra that brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as exc:
        raise ReaderMissing(f"{name}: files of this kind are read with the extra {extra_name!r} installed") from exc
