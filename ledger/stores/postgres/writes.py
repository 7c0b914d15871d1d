"""The statements of an append on PostgreSQL; the caller holds the transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection

from ledger.merkle.tree import Frontier, Node, hash_leaf
from ledger.stores.store import CHANGES, Clash, NewEntry, PartAt, RefusedBatch, StoredLeaf, overtaken

Connection = AsyncConnection[tuple[Any, ...]]
LEAF = "SELECT idx, id::text, leaf, hash FROM leaves"
_SECRETS = "INSERT INTO secrets SELECT * FROM unnest(%b::text[]::uuid[], %b::text[], %b::bytea[], %b::bytea[])"
_BLOBS = "INSERT INTO blobs SELECT * FROM unnest(%b::text[]::uuid[], %b::text[], %b::bytea[])"
_LEAVES = (
    "INSERT INTO leaves (idx, id, kind, tenant, req, replica, rseq, hash, leaf) SELECT * FROM unnest(%b::int8[],"
    " %b::text[]::uuid[], %b::text[], %b::text[], %b::text[], %b::text[], %b::int8[], %b::bytea[], %b::bytea[])"
)
_NODES = "INSERT INTO nodes SELECT * FROM unnest(%b::int4[], %b::int8[], %b::bytea[])"


class Refusal(Exception):
    """Ends the transaction of a batch that is not written."""

    def __init__(self, refused: RefusedBatch) -> None:
        super().__init__(refused)
        self.refused = refused


async def insert_parts(db: Connection, batch: Sequence[NewEntry]) -> None:
    rows = [(entry.leaf.entry_id, part) for entry in batch for part in entry.parts]
    if not rows:
        return
    ids, names = [entry_id for entry_id, _ in rows], [part.name for _, part in rows]
    await db.execute(_SECRETS, (ids, names, [part.salt for _, part in rows], [part.key for _, part in rows]))
    await db.execute(_BLOBS, (ids, names, [part.blob for _, part in rows]))


async def locked_frontier(db: Connection, batch: Sequence[NewEntry], known: Frontier) -> Frontier:
    """The frontier of the head, which stays locked until the transaction ends. Raises Refusal."""
    leaves = [entry.leaf for entry in batch]
    requests, kinds = [leaf.request_id for leaf in leaves], [str(leaf.kind) for leaf in leaves]
    sql = "SELECT * FROM lock_head(%s::int8, %s::text, %s::text[], %s::text[])"
    found = await rows_of(db, sql, (known.size, leaves[0].replica, requests, kinds))
    size, hashes, next_rseq, taken_at, taken = found[0]
    if taken_at is not None:
        existing = StoredLeaf(*(await rows_of(db, f"{LEAF} WHERE idx = %s", (taken,)))[0])
        raise Refusal(RefusedBatch(Clash.REQUEST, taken_at, existing=existing))
    refused = _out_of_sequence(batch, next_rseq)
    if refused is not None:
        raise Refusal(refused)
    refused = await _overtaken(db, batch)
    if refused is not None:
        raise Refusal(refused)
    return known if hashes is None else Frontier(size, tuple(hashes))


async def _overtaken(db: Connection, batch: Sequence[NewEntry]) -> RefusedBatch | None:
    asked = {(entry.leaf.tenant, entry.since) for entry in batch if entry.since is not None}
    if not asked:
        return None
    sql = "SELECT tenant, max(idx) FROM leaves WHERE idx >= %s AND kind = ANY (%s::text[]) GROUP BY tenant"
    lowest = min(since for _, since in asked)
    last = dict(await rows_of(db, sql, (lowest, [str(kind) for kind in CHANGES])))
    return overtaken(batch, lambda tenant, since: last.get(tenant, -1) >= since)


def _out_of_sequence(batch: Sequence[NewEntry], expected: int) -> RefusedBatch | None:
    for position, entry in enumerate(batch):
        if entry.leaf.rseq != expected + position:
            return RefusedBatch(Clash.SEQUENCE, position, next_rseq=expected)
    return None


async def insert_leaves(db: Connection, batch: Sequence[NewEntry], frontier: Frontier) -> Frontier:
    """Inserts the leaves and the perfect subtrees that they complete; gives the frontier after them."""
    first, hashes, nodes = frontier.size, [], list[tuple[Node, bytes]]()
    for entry in batch:
        hashes.append(hash_leaf(entry.leaf_bytes))
        frontier, made = frontier.append(hashes[-1])
        nodes += made
    leaves = [entry.leaf for entry in batch]
    await db.execute(
        _LEAVES,
        (
            list(range(first, frontier.size)),
            [leaf.entry_id for leaf in leaves],
            [str(leaf.kind) for leaf in leaves],
            [leaf.tenant for leaf in leaves],
            [leaf.request_id for leaf in leaves],
            [leaf.replica for leaf in leaves],
            [leaf.rseq for leaf in leaves],
            hashes,
            [entry.leaf_bytes for entry in batch],
        ),
    )
    await db.execute(_NODES, ([n.level for n, _ in nodes], [n.n for n, _ in nodes], [value for _, value in nodes]))
    return frontier


async def erase_parts(db: Connection, erase: Sequence[PartAt]) -> None:
    if erase:
        ids, names = [part.entry_id for part in erase], [part.name for part in erase]
        for table in ("secrets", "blobs"):
            sql = f"DELETE FROM {table} USING unnest(%b::text[]::uuid[], %b::text[]) gone (entry, name)"  # noqa: S608
            await db.execute(
                f"{sql} WHERE {table}.entry = gone.entry AND {table}.name = gone.name".encode(), (ids, names)
            )


async def rows_of(db: Connection, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    cursor = db.cursor(binary=True)
    await cursor.execute(sql.encode(), tuple(bindings))
    return await cursor.fetchall()
