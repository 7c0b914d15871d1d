"""Canonical bytes of the values that are decided over, and their digests (RFC 8785, JSON Canonicalization Scheme).

The values here are a closed set: objects with ASCII keys, arrays, strings, booleans, null and integers within +-(2**53
- 1). For that set orjson with sorted keys writes the very bytes of RFC 8785, two orders of magnitude faster than a
general implementation; a property test compares the two. Whatever lies outside the set is refused, not approximated.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NoReturn

import orjson

from policy.errors import InputRejected

MAX_INTEGER = 2**53 - 1
# A number inside compact JSON that may be none of ours: a fraction, or an integer of 16 digits and more.
_DOUBTFUL = re.compile(rb"[\[,:]-?(?:[0-9]{16}|[0-9]+[.eE])")
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


def canonical(value: object) -> bytes:
    """RFC 8785 bytes of `value`.

    Raises InputRejected for a float, a large integer, a lone surrogate, a non-ASCII key.
    """
    ensure_plain(value)
    return encode_plain(value)


def encode_plain(value: object) -> bytes:
    """RFC 8785 bytes of a value that is plain by construction: the caller has checked integers and keys."""
    try:
        return orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError as exc:
        raise InputRejected(str(exc)) from exc


def whole(value: int) -> int:
    """The integer itself. Raises InputRejected for anything but an integer within +-(2**53 - 1)."""
    if type(value) is not int or not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise InputRejected("a number is not an integer, or is beyond 2**53 - 1")
    return value


def whole_or_none(value: int | None) -> int | None:
    """As `whole`; None stays None."""
    return None if value is None else whole(value)


def digest(data: bytes) -> str:
    """`sha256:<hex>` of the bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def ensure_plain(value: object) -> None:
    """Refuse what JSON engines read differently. Iterative, so that no depth of nesting exhausts the stack."""
    todo: list[Any] = [value]
    while todo:
        each = todo.pop()
        kind = type(each)
        if kind is str or kind is bool or each is None:
            continue
        if kind is dict:
            if not all(type(key) is str and key.isascii() for key in each):
                raise InputRejected("an object has a key that is not ASCII text")
            todo.extend(each.values())
        elif kind is list:
            todo.extend(each)
        elif kind is not int:
            raise InputRejected(f"a value of type {kind.__name__} cannot be decided over")
        elif not -MAX_INTEGER <= each <= MAX_INTEGER:
            raise InputRejected("an integer is beyond 2**53 - 1")


def parse_plain(text: bytes) -> Any:
    """The value that `text` holds as JSON.

    Raises ValueError for what is not JSON, or is read differently by different readers: a fraction, a large integer, a
    key that stands twice or is not ASCII, too deep a nesting.
    """
    known = _compact(text)
    if known is not None:
        return known
    try:
        return json.loads(
            text, parse_int=_integer, parse_float=_no_number, parse_constant=_no_number, object_pairs_hook=_pairs
        )
    except RecursionError as exc:
        raise ValueError("the nesting is too deep") from exc


def _compact(text: bytes) -> Any:
    """The value of a text that is written again with the same bytes: then no key stood twice and nothing was escaped or
    padded, as engines write it, and a reader without our hooks, ten times as fast, has read it right. None for any
    other text, which says nothing against it. Where all is ASCII and no number is in doubt, its values need no look."""
    try:
        value = orjson.loads(text)
        if orjson.dumps(value) != text.rstrip(b"\n"):
            return None
        if not (text.isascii() and text[:1] in (b"[", b"{")) or _DOUBTFUL.search(text):
            ensure_plain(value)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, InputRejected):
        return None
    return value


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not an integer")


def _integer(text: str) -> int:
    value = int(text) if len(text) < 18 else MAX_INTEGER + 1
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise ValueError("an integer is beyond 2**53 - 1")
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs) or not all(key.isascii() for key in made):
        raise ValueError("a key occurs twice, or is not ASCII text")
    return made
