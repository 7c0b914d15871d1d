"""Prompt templates by name and version. A released version never changes: its digest stands in the ledger."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[a-z]+(?:_[a-z]+)*/v[1-9][0-9]*")
_ROOT = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A template's name (`focus_mode/v1`), its text and the `sha256:<hex>` of its bytes."""

    name: str
    text: str
    digest: str


@cache
def released_templates() -> tuple[PromptTemplate, ...]:
    """Every template that this release has."""
    names = sorted(f"{path.parent.name}/{path.name.removesuffix('.md.j2')}" for path in _ROOT.glob("*/*.md.j2"))
    return tuple(map(load_template, names))


@cache
def load_template(name: str) -> PromptTemplate:
    """The template called `name`, as `<folder>/v<N>`. Raises `LookupError` when there is none."""
    path = _ROOT / f"{name}.md.j2"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise LookupError(f"no prompt template {name!r}")
    data = path.read_bytes()
    return PromptTemplate(name=name, text=data.decode("utf-8"), digest="sha256:" + hashlib.sha256(data).hexdigest())


def template_for(mode: str, model: str) -> str:
    """The name of the template of a mode (`focus_select`) for the family of the model of that name. Raises
    `LookupError` where there is no such mode."""
    for family in _families():
        named = family["templates"].get(mode)
        if named is not None and any(fnmatchcase(model.casefold(), pattern) for pattern in family["models"]):
            return str(named)
    raise LookupError(f"no prompt template for the mode {mode!r}")


@cache
def _families() -> tuple[dict[str, Any], ...]:
    return tuple(tomllib.loads((_ROOT / "families.toml").read_text("utf-8"))["family"])
