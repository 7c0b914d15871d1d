"""Pages over a sorted list: by offset, or by a cursor that names the last item and so neither skips nor repeats one
that keeps its place while others come and go."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from retrieval.errors import CursorInvalid
from retrieval.registry.assets.model import SortOrder
from retrieval.registry.assets.selection import Key
from retrieval.scope import digest

T = TypeVar("T")
_DIGEST_CHARS = 20


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The page that is asked for: `limit` items after `cursor`, or from `offset` on."""

    limit: int
    offset: int
    sort_by: str
    order: SortOrder = "asc"
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """The items of a page, how many there are in all, and where the next one begins: None after the last."""

    items: tuple[T, ...]
    total: int
    offset: int
    next_offset: int | None
    next_cursor: str | None


def page_of(keyed: Mapping[Key, T] | Sequence[tuple[Key, T]], wanted: PageRequest, *, query: object) -> Page[T]:
    """The page of the items by their keys. `query` is what they were selected by, as JSON: a cursor holds for one query
    and order only. Raises CursorInvalid."""
    pairs = list(keyed.items() if isinstance(keyed, Mapping) else keyed)
    ordered = sorted(pairs, key=lambda pair: pair[0], reverse=wanted.order == "desc")
    mark = digest([wanted.sort_by, wanted.order, query])[-_DIGEST_CHARS:]
    start = wanted.offset if wanted.cursor is None else _after(ordered, wanted, mark)
    shown = ordered[start : start + wanted.limit]
    end = start + len(shown)
    more = bool(shown) and end < len(ordered)
    return Page(
        items=tuple(item for _, item in shown),
        total=len(ordered),
        offset=start,
        next_offset=end if more else None,
        next_cursor=_cursor(mark, shown[-1][0]) if more else None,
    )


def _cursor(mark: str, key: Key) -> str:
    return base64.urlsafe_b64encode(json.dumps([mark, *key], ensure_ascii=False).encode()).decode()


def _after(ordered: Sequence[tuple[Key, T]], wanted: PageRequest, mark: str) -> int:
    """The place of the first item behind the cursor's."""
    try:
        read = json.loads(base64.b64decode((wanted.cursor or "").encode(), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        raise CursorInvalid("the cursor was not made here") from None
    match read:
        case [str(made_for), (str() | int()) as value, str(name)] if made_for == mark:
            last: Key = value, name
        case _:
            raise CursorInvalid("the cursor is of another query or order")
    if any(type(key[0]) is not type(value) for key, _ in ordered[:1]):
        raise CursorInvalid("the cursor was not made here")
    if wanted.order == "desc":
        return sum(key >= last for key, _ in ordered)
    return sum(key <= last for key, _ in ordered)
