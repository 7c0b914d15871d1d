"""Canonical JSON (RFC 8785): of what the ledger writes (objects, arrays, text and integers), and of any value."""

from __future__ import annotations

import re
from typing import Any

import orjson
import rfc8785

_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_WRITTEN_OTHERWISE = re.compile(rb"[:,\[]-?(?:[0-9]+\.0|[0-9]+(?:\.[0-9]+)?e[-+]?[0-9]+|[0-9]{16,})[,\]}]")
"""A number that orjson writes otherwise than RFC 8785, or that RFC 8785 refuses: whole, with an exponent, large."""


def canonical_json(value: Any) -> bytes:
    """The RFC 8785 bytes of a value without floating-point numbers.

    For ASCII text orjson writes the very same bytes fifty times as fast (a property test compares them); anything else
    goes through `rfc8785`."""
    try:
        data = orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError:
        return rfc8785.dumps(value)  # which says what is wrong, or can write it
    return data if data.isascii() else rfc8785.dumps(value)


def canonical_any(value: Any) -> bytes:
    """The RFC 8785 bytes of any JSON object or array; numbers are finite, as JSON has no others. Raises
    `rfc8785.CanonicalizationError` for what has none.

    Mostly they are those of orjson, of which it is seen whether they are: no number is written otherwise, and there are
    not both characters beyond the basic plane and from its end, of which keys are in another order by UTF-16."""
    try:
        data = orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError:
        return rfc8785.dumps(value)
    ordered = not (re.search(rb"[\xee\xef]", data) and re.search(rb"[\xf0-\xf4]", data))
    return data if ordered and not _WRITTEN_OTHERWISE.search(data) else rfc8785.dumps(value)


def canonical_object(data: bytes) -> dict[str, Any] | None:
    """The object of these bytes if they are ASCII and canonical, which a key that occurs twice is not; None for others,
    of which the caller says more. Numbers with a fraction are left in it."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    same = isinstance(value, dict) and data.isascii() and orjson.dumps(value, option=_OPTIONS) == data
    return value if same else None


def is_canonical(value: Any, data: bytes) -> bool:
    """True if `data` are the canonical bytes of `value`; False too if the value has none (a lone surrogate)."""
    try:
        return canonical_json(value) == data
    except (rfc8785.CanonicalizationError, UnicodeError):
        return False
