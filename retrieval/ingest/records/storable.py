"""Text that no store can hold is refused with its file, before any store sees it: so one file fails and not the run,
and the same file fails whichever stores there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, is_dataclass

import orjson

from retrieval.errors import LoadError

# PostgreSQL does not store U+0000 in text; half of a surrogate pair is never valid text. JSON and TOML can spell both.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def require_storable(name: str, *values: object) -> None:
    """Raise LoadError, which names the character, where a text anywhere in the values cannot be stored."""
    if _beyond_doubt(values):
        return
    if found := _UNSTORABLE.search("".join(_texts(values))):
        raise LoadError(f"{name}: a name or value holds U+{ord(found[0]):04X}, which no store can keep")


def _beyond_doubt(values: Iterable[object]) -> bool:
    """True if a JSON writer finds nothing amiss: it refuses half a pair and spells U+0000 out, in a tenth of the time
    of a walk. What it cannot write, and a text that holds such a spelling itself, are walked."""
    try:
        return b"\\u0000" not in orjson.dumps(values, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return False


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Set) else None  # no text, as in the walk


def _texts(values: Iterable[object]) -> list[str]:
    """Every text in values, mappings, sequences and dataclasses."""
    found: list[str] = []
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, tuple | list | Set):
            waiting.extend(value)
        elif isinstance(value, Mapping):
            waiting.extend(value)
            waiting.extend(value.values())
        else:
            waiting.extend(getattr(value, name) for name in _fields(value))
    return found


_FIELDS: dict[type[object], tuple[str, ...]] = {}


def _fields(value: object) -> tuple[str, ...]:
    """The names of a dataclass's fields, looked up once a type; none for any other value."""
    kind = type(value)
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(field.name for field in fields(value)) if is_dataclass(value) else ()
    return _FIELDS[kind]
