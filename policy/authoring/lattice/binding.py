"""The invariants that bind a bundle: those that it states, and the shipped ones, which bind every bundle that does not
remove them by name and with a reason.

    [[removed]]     in the bundle's `vectors/invariants.toml`: `title` of a shipped invariant, or `ladder` for the order
                    of the shipped roles; and `why`, which goes on the ledger with the publication
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from policy.authoring.lattice.invariants import KINDS, InvariantsInvalid
from policy.bundles.bundle import SHIPPED

LADDER = "ladder"
FILE = Path("vectors") / "invariants.toml"
_KINDS = (*KINDS, "unreleased")


@dataclass(frozen=True, slots=True)
class Removal:
    """A shipped invariant, by its title, that does not bind a bundle, and why."""

    title: str
    why: str


def binding_invariants(folder: Path) -> dict[str, Any]:
    """The invariants of the bundle below `folder` and the shipped ones that bind it, as one document of the file's
    form. Raises InvariantsInvalid for a removal of what is not shipped or without a reason, and for a ladder on which
    the shipped roles stand in another order."""
    own, shipped = _read(folder / FILE), _read(SHIPPED / FILE)
    removed = {each.title for each in _removals(own, shipped)}
    if LADDER not in removed and LADDER in own:
        _require_order(own[LADDER], shipped[LADDER])
    more = {kind: [row for row in rows if row.get("title") not in removed] for kind, rows in _tables(shipped)}
    stated = dict(_tables(own))
    return {
        "schema": own.get("schema", shipped["schema"]),
        LADDER: own.get(LADDER, shipped[LADDER]),
        **{
            kind: [*stated.get(kind, ()), *(row for row in more.get(kind, ()) if row not in stated.get(kind, ()))]
            for kind in _KINDS
        },
        **{key: own[key] for key in own.keys() - {"schema", LADDER, "removed", *_KINDS}},
    }


def removals(folder: Path) -> tuple[Removal, ...]:
    """The shipped invariants that do not bind the bundle below `folder`. Raises InvariantsInvalid."""
    return _removals(_read(folder / FILE), _read(SHIPPED / FILE))


def _removals(own: Mapping[str, Any], shipped: Mapping[str, Any]) -> tuple[Removal, ...]:
    titles = {LADDER, *(row["title"] for _, rows in _tables(shipped) for row in rows)}
    return tuple(_removal(table, titles) for table in own.get("removed", ()))


def _removal(table: object, titles: set[str]) -> Removal:
    title, why = (table.get("title"), table.get("why")) if isinstance(table, dict) else (None, None)
    if title not in titles or not isinstance(table, dict) or table.keys() != {"title", "why"}:
        raise InvariantsInvalid(f"removed: {title!r} is not the title of a shipped invariant, with a why")
    if not isinstance(why, str) or not why.strip():
        raise InvariantsInvalid(f"removed: {title!r} has no reason (why)")
    return Removal(str(title), why)


def _tables(document: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The invariants of each kind."""
    for kind in _KINDS:
        rows = document.get(kind, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InvariantsInvalid(f"{kind} is not a list of tables")
        yield kind, rows


def _require_order(own: object, shipped: list[list[str]]) -> None:
    """Raise InvariantsInvalid where a shipped role stands as high as one that the shipped ladder has above it."""
    steps = {str(role): n for n, step in enumerate(own if isinstance(own, list) else ()) for role in step}
    for (n, below), (m, above) in product(enumerate(shipped), repeat=2):
        for low, high in product(below, above):
            if n < m and low in steps and high in steps and steps[low] >= steps[high]:
                raise InvariantsInvalid(
                    f"the ladder has {low} as high as {high}; to mean that, remove {LADDER!r} by name with a reason"
                )


def _read(path: Path) -> dict[str, Any]:
    """The file's document; nothing where there is none."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        raise InvariantsInvalid(f"{path.name} cannot be read: {exc}") from exc
