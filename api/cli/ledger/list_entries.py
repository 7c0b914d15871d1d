"""`exhibit ledger list`: entries by index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import emit, note, table
from api.cli.ledger.common import Shard, tell_damaged, utc, with_ledger
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from ledger.ledger import Ledger
    from ledger.model import DamagedEntry, Entry

_PAGE = 500


def list_entries(
    *,
    after: Annotated[int, typer.Option("--after", help="Only entries above this index.")] = -1,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Most entries.")] = 100,
    kind: Annotated[str | None, typer.Option("--kind", help="Only this kind.")] = None,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Entries by index. Exit code 7: some of them were changed; they are named, and all others are listed."""
    from api.audit.entries.export import damaged_json
    from api.audit.entries.records import entry_json
    from ledger.model import DamagedEntry, Kind

    if kind is not None and kind not in list(Kind):
        raise typer.BadParameter(f"unknown kind {kind!r}; known: {', '.join(Kind)}")
    chosen = None if kind is None else Kind(kind)

    async def work(ledger: Ledger) -> list[Entry | DamagedEntry]:
        found: list[Entry | DamagedEntry] = []
        while len(found) < limit:
            last = found[-1].index if found else after
            page = await ledger.listed(after=last, limit=min(limit - len(found), _PAGE), kind=chosen)
            if not page:
                break
            found += page
        return found

    found: list[Entry | DamagedEntry] = with_ledger(home, work, shard=shard)
    if len(found) == limit:
        note(f"there may be more: --after {found[-1].index}")
    rows = [
        [e.index, "damaged", "", e.entry_id, ""]
        if isinstance(e, DamagedEntry)
        else [e.index, e.leaf.kind, utc(e.leaf.t_ms), e.leaf.entry_id, e.leaf_hash[:16]]
        for e in found
    ]
    broken = [each for each in found if isinstance(each, DamagedEntry)]
    emit(
        [damaged_json(each) if isinstance(each, DamagedEntry) else entry_json(each) for each in found],
        as_json=as_json,
        render=lambda: table(["index", "kind", "time", "entry", "leaf"], rows),
    )
    tell_damaged([(each.entry_id, each.detail) for each in broken])
