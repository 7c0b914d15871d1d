"""Pages of the registry: by cursor, nothing that keeps its place is skipped or repeated, whatever others write between two pages."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import CursorInvalid
from retrieval.registry.assets.paging import PageRequest, page_of
from retrieval.registry.assets.selection import Key

NAMES = st.text("abc", min_size=1, max_size=3)
ORDERS = st.sampled_from(["asc", "desc"])
WORLDS = st.dictionaries(NAMES, st.text("xyzé", max_size=2), max_size=30)


def keyed(world: dict[str, str]) -> dict[Key, str]:
    return {(value, name): name for name, value in world.items()}


@given(world=WORLDS, limit=st.integers(1, 7), order=ORDERS, offset=st.integers(0, 40))
def test_a_page_by_offset_is_a_slice(world: dict[str, str], limit: int, order: str, offset: int) -> None:
    whole = [name for _, name in sorted(((v, n), n) for n, v in world.items())]
    whole = whole if order == "asc" else whole[::-1]
    page = page_of(keyed(world), PageRequest(limit, offset, "title", order), query={})  # type: ignore[arg-type]
    assert list(page.items) == whole[offset : offset + limit]
    assert page.total == len(world)
    more = bool(page.items) and offset + len(page.items) < len(world)
    assert page.next_offset == (offset + len(page.items) if more else None)
    assert (page.next_cursor is not None) == more


@settings(deadline=None)
@given(
    world=WORLDS,
    writes=st.lists(st.tuples(WORLDS, st.sets(NAMES, max_size=5)), max_size=12),
    limit=st.integers(1, 5),
    order=ORDERS,
)
def test_a_cursor_neither_skips_nor_repeats_while_others_write(
    world: dict[str, str], writes: list[tuple[dict[str, str], set[str]]], limit: int, order: str
) -> None:
    """Between two pages new items come and old ones go; those that stay where they are come exactly once."""
    steady, now = set(world), dict(world)
    seen: list[str] = []
    cursor: str | None = None
    pending = list(writes)
    for _ in range(200):
        page = page_of(keyed(now), PageRequest(limit, 0, "title", order, cursor), query={})  # type: ignore[arg-type]
        seen += page.items
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
        if pending:
            added, removed = pending.pop()
            now |= {name: value for name, value in added.items() if name not in world}
            for name in removed:
                now.pop(name, None)
                steady.discard(name)
    assert all(seen.count(name) == 1 for name in steady)
    assert all(seen.count(name) <= 1 for name in world)


WORLD = {(f"v{n % 4}", f"n{n}"): n for n in range(9)}
FIRST = page_of(WORLD, PageRequest(4, 0, "title"), query={"a": 1})


def of(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


MARK = json.loads(base64.urlsafe_b64decode(str(FIRST.next_cursor)))[0]


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "%%%", of([]), of({}), of(None), of([MARK]), of([MARK, "v"]), of([MARK, 1, "n"]), of([MARK, "v", 1]),
     of([MARK, None, "n"]), of([MARK, True, "n"]), of([MARK, "v", "n", "m"]), of(["other", "v", "n"]), "A" * 1999, of("[" * 900)],
)  # fmt: skip
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(CursorInvalid):
        page_of(WORLD, PageRequest(4, 0, "title", cursor=cursor), query={"a": 1})


@pytest.mark.parametrize(
    ("sort_by", "order", "query"),
    [("title", "asc", {"a": 2}), ("title", "desc", {"a": 1}), ("name", "asc", {"a": 1}), ("title", "asc", {})],
)
def test_a_cursor_holds_for_one_query_and_order(sort_by: str, order: str, query: object) -> None:
    assert page_of(WORLD, PageRequest(4, 0, "title", cursor=FIRST.next_cursor), query={"a": 1}).items
    with pytest.raises(CursorInvalid):
        page_of(WORLD, PageRequest(4, 0, sort_by, order, FIRST.next_cursor), query=query)  # type: ignore[arg-type]


def test_a_cursor_of_an_empty_rest_is_an_empty_page() -> None:
    assert page_of({}, PageRequest(4, 0, "title", cursor=FIRST.next_cursor), query={"a": 1}).items == ()
