"""The entry index in SQL, by SQLAlchemy: a SQLite file beside the log, or a schema beside it in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import psycopg
from sqlalchemy import (
    Boolean,
    Connection,
    Engine,
    and_,
    create_engine,
    delete,
    event,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    text,
    true,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import StaticPool
from sqlalchemy.sql.functions import FunctionElement

from ledger.errors import IndexDamaged, LedgerUnavailable
from ledger.model import Kind
from ledger.search import sqlite_driver
from ledger.search.entry_index import DAY_MS, EntryCounts, EntryFacts, EntryQuery, by_frequency, day_of
from ledger.search.signature import PIECES, by_piece, bytes_with, pieces_of
from ledger.search.tables import (
    INDEX_VERSION,
    SETS,
    ActorRow,
    Base,
    CitedRow,
    EntryRow,
    HeldRow,
    OutcomeRow,
    PlaceRow,
    RuleRow,
    SignatureRow,
    SourceRow,
    VersionRow,
)
from ledger.stores.postgres.horizon import wait_until_unseen
from ledger.stores.postgres.schema import REDACTOR, WRITER

T = TypeVar("T")
SCHEMA = "exhibit_ledger_index"
_KINDS = frozenset(map(str, Kind))
_BUSY_MS = 10_000
_STRETCH, _STRETCHED = 4_096, 8
"""Entries whose signatures are read first, and how much longer each further stretch is."""
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(current_schema(), 0))")


def index_schema(shard: int) -> str:
    """The schema of the index of a database's first log, or of one beside it."""
    return SCHEMA if shard == 1 else f"{SCHEMA}_{shard}"


class SqlEntryIndex:
    """An EntryIndex. One worker thread; other processes may work on the same tables."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="ledger-index")

    @classmethod
    async def open_sqlite(cls, path: Path) -> SqlEntryIndex:
        """The index in that file, made if it is not there. Raises LedgerUnavailable."""
        engine = create_engine(
            "sqlite://",
            module=sqlite_driver,
            creator=lambda: sqlite_driver.connect(path, busy_ms=_BUSY_MS),
            poolclass=StaticPool,
        )
        event.listen(engine, "connect", _configure_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return await cls._opened(engine)

    @classmethod
    async def open_postgres(cls, dsn: str, *, schema: str = SCHEMA) -> SqlEntryIndex:
        """The index in that schema, made if it is not there. Raises LedgerUnavailable."""
        import psycopg  # noqa: PLC0415

        def connect() -> psycopg.Connection[Any]:
            options = f'-c search_path="{schema}" -c statement_timeout=60s'
            connection = psycopg.connect(dsn, options=options, connect_timeout=5)
            row = connection.execute("SELECT to_regnamespace(%s) IS NULL", (f'"{schema}"',)).fetchone()
            if row == (True,):
                connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'.encode())
            connection.commit()
            return connection

        return await cls._opened(create_engine("postgresql+psycopg://", creator=connect, pool_size=1))

    @classmethod
    async def _opened(cls, engine: Engine) -> SqlEntryIndex:
        index = cls(engine)
        try:
            await index._run(_prepare)
        except BaseException:
            await index.aclose()
            raise
        return index

    async def position(self) -> int:
        """See EntryIndex."""
        return await self._read(_position)

    async def extend(self, facts: Sequence[EntryFacts]) -> None:
        """See EntryIndex."""

        def work(db: Connection) -> None:
            position = _position(db)
            new = [each for each in facts if each.index >= position]
            if [each.index for each in new] != list(range(position, position + len(new))):
                raise ValueError(f"the entries do not follow index {position - 1}")
            _insert(db, new)

        await self._run(work)

    async def replace(self, facts: Sequence[EntryFacts]) -> None:
        """See EntryIndex."""

        def work(db: Connection) -> None:
            tables: tuple[type[Base], ...] = (EntryRow, OutcomeRow, ActorRow, SignatureRow, *SETS)
            indexes = [each.index for each in facts]
            for table in tables:
                of_entries = _columns(table).idx.in_(indexes)
                db.execute(delete(table).where(_in_a_piece(of_entries) if table is SignatureRow else of_entries))
            _insert(db, facts)

        await self._run(work)

    async def find(self, query: EntryQuery, *, after: int, limit: int) -> tuple[EntryFacts, ...]:
        """See EntryIndex."""
        return await self._read(lambda db: _find(db, query, after, limit))

    async def count(self, query: EntryQuery) -> EntryCounts:
        """See EntryIndex."""
        return await self._read(lambda db: _count(db, query))

    async def tenants(self) -> tuple[str, ...]:
        """See EntryIndex."""
        tenant = _columns(EntryRow).tenant
        return await self._read(lambda db: tuple(db.execute(select(tenant).distinct().order_by(tenant)).scalars()))

    async def shrink(self) -> None:
        """See EntryIndex."""

        def work() -> None:
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
                if db.dialect.name == "postgresql":
                    wait_until_unseen(cast("psycopg.Connection[Any]", db.connection.driver_connection))
                db.execute(text("VACUUM" if db.dialect.name == "sqlite" else "VACUUM (FULL)"))

        await self._in_thread(work)

    async def share(self, roles: Sequence[str] = (WRITER, REDACTOR)) -> None:
        """Let other roles of the server use the tables; for whoever made them."""

        def work(db: Connection) -> None:
            schema = '"' + str(db.execute(text("SELECT current_schema()")).scalar_one()).replace('"', '""') + '"'
            for role in roles:
                db.execute(text(f"GRANT USAGE ON SCHEMA {schema} TO {role}"))
                db.execute(text(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}"))

        await self._run(work)

    async def aclose(self) -> None:
        """Close the connection. A second call does nothing."""
        await asyncio.to_thread(self._executor.shutdown)
        self._engine.dispose()

    async def _run(self, work: Callable[[Connection], T]) -> T:
        def transaction() -> T:
            with self._engine.begin() as db:
                if db.dialect.name == "postgresql":
                    db.execute(_LOCK)
                return work(db)

        return await self._in_thread(transaction)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        """One state of the tables, without a lock that a writer would wait for."""

        def transaction() -> T:
            with self._engine.connect() as db:
                level = {"isolation_level": "REPEATABLE READ"} if db.dialect.name == "postgresql" else {}
                with db.execution_options(reads=True, **level).begin():
                    return work(db)

        return await self._in_thread(transaction)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work)
        except SQLAlchemyError as exc:
            raise LedgerUnavailable(f"the index of the ledger does not answer: {type(exc).__name__}") from exc
        except RuntimeError as exc:
            raise LedgerUnavailable("the index of the ledger is closed") from exc


def _configure_sqlite(connection: Any, _: object) -> None:
    connection.execute("PRAGMA secure_delete = ON")


def _begin_sqlite(db: Connection) -> None:
    options = db.get_execution_options()
    if options.get("isolation_level") != "AUTOCOMMIT":
        db.exec_driver_sql("BEGIN" if options.get("reads") else "BEGIN IMMEDIATE")


def _prepare(db: Connection) -> None:
    """Makes the tables; those of another version are dropped, for the log makes them again."""
    metadata = Base.metadata
    metadata.create_all(db, tables=[metadata.tables["index_version"]])
    if db.execute(select(_columns(VersionRow).version)).scalars().all() == [INDEX_VERSION]:
        return
    metadata.drop_all(db)
    metadata.create_all(db)
    db.execute(insert(VersionRow).values(version=INDEX_VERSION))


def _columns(table: type[Base]) -> Any:
    return table.__table__.c  # type: ignore[attr-defined]


def _position(db: Connection) -> int:
    last = db.execute(select(func.max(_columns(EntryRow).idx))).scalar_one()
    return 0 if last is None else int(last) + 1


def _insert(db: Connection, facts: Sequence[EntryFacts]) -> None:
    rows: dict[type[Base], list[dict[str, Any]]] = {
        EntryRow: [{column.name: _value(each, column.name) for column in _columns(EntryRow)} for each in facts],
        OutcomeRow: [
            {"idx": each.index, "outcome": each.outcome, "model": each.model}
            for each in facts
            if each.outcome is not None
        ],
        ActorRow: [{"idx": each.index, "actor": each.actor} for each in facts if each.actor is not None],
        SignatureRow: [
            {"piece": number, "idx": each.index, "bits": bits}
            for each in facts
            for number, bits in enumerate(pieces_of(each.signature))
        ],
    }
    for table, field in SETS.items():
        _, column = _columns(table)
        rows[table] = [{"idx": f.index, column.name: value} for f in facts for value in sorted(set(getattr(f, field)))]
    for table, values in rows.items():
        if values:
            db.execute(insert(table), values)


def _value(facts: EntryFacts, column: str) -> object:
    value = getattr(facts, {"idx": "index", "id": "entry_id"}.get(column, column))
    return str(value) if isinstance(value, Kind) else value


def _find(db: Connection, query: EntryQuery, after: int, limit: int) -> tuple[EntryFacts, ...]:
    """Which entries, then what is kept of them: what is joined before the limit is joined for every entry."""
    entry, outcome, actor = _columns(EntryRow), _columns(OutcomeRow), _columns(ActorRow)
    indexes = list(_indexes(db, query, after, limit))
    statement = (
        select(entry.idx, entry.id, entry.kind, entry.t_ms, entry.tenant, entry.request_id, entry.leaf_hash, entry.seal,
               outcome.outcome, outcome.model, actor.actor)
        .outerjoin(outcome.idx.table, outcome.idx == entry.idx)
        .outerjoin(actor.idx.table, actor.idx == entry.idx)
        .where(entry.idx.in_(indexes))
        .order_by(entry.idx)
    )  # fmt: skip
    found = db.execute(statement).all()
    members = {field: _members(db, table, indexes) for table, field in SETS.items()}
    signatures = _signatures(db, indexes)
    return tuple(
        _facts(row, {field: values.get(row[0], ()) for field, values in members.items()}, signatures.get(row[0], b""))
        for row in found
    )


def _indexes(db: Connection, query: EntryQuery, after: int, limit: int) -> Iterator[int]:
    """Of the entries that match, by growing stretches of the log if a text is sought: a frequent one is found in the
    first, and a rare one is sought in few."""
    size = _position(db)
    stretch = _STRETCH if query.bits else size
    while limit and after < size - 1:
        found = list(db.execute(_matching(query, after, after + stretch).limit(limit)).scalars())
        yield from found
        after, limit, stretch = after + stretch, limit - len(found), stretch * _STRETCHED


def _facts(row: Sequence[Any], sets: Mapping[str, Any], signature: bytes) -> EntryFacts:
    idx, entry_id, kind, t_ms, tenant, request_id, leaf_hash, seal, outcome, model, actor = row
    if kind not in _KINDS:
        raise IndexDamaged(f"the index of entries has an unknown kind at {idx}; mend it: exhibit ledger search --mend")
    leaf = (idx, entry_id, Kind(kind), t_ms, tenant, request_id, leaf_hash)
    return EntryFacts(*leaf, outcome, model, actor, **sets, signature=signature, seal=seal)


def _matching(query: EntryQuery, after: int, until: int) -> Any:
    """The indexes of the entries that match, above one and up to another, rising."""
    idx = _columns(EntryRow).idx
    conditions = _conditions(query, lambda column: (column > after) & (column <= until))
    return select(idx).where((idx > after) & (idx <= until), *conditions).order_by(idx)


def _count(db: Connection, query: EntryQuery) -> EntryCounts:
    entry, outcome, rule = _columns(EntryRow), _columns(OutcomeRow), _columns(RuleRow)
    matching = _matching(query, -1, _position(db))
    facets = {
        "kind": entry.kind,
        "outcome": outcome.outcome,
        "rule": rule.rule,
        "model": outcome.model,
        "source": _columns(SourceRow).source,
        "cited": _columns(CitedRow).source,
        "place": _columns(PlaceRow).place,
        "actor": _columns(ActorRow).actor,
    }
    values = {}
    for facet, column in facets.items():
        with_value = column.is_not(None) & column.table.c.idx.in_(matching)
        statement = select(column, func.count()).where(with_value).group_by(column)
        values[facet] = by_frequency((value, count) for value, count in db.execute(statement))
    day = entry.t_ms // DAY_MS
    days = db.execute(select(day, func.count()).where(entry.idx.in_(matching)).group_by(day))
    values["day"] = by_frequency((day_of(number), count) for number, count in days)
    return EntryCounts(db.execute(select(func.count()).select_from(matching.subquery())).scalar_one(), values)


def _conditions(query: EntryQuery, within: Callable[[Any], Any]) -> Iterator[Any]:
    """The condition on an entry for each field of the query that is given; signatures are read of the entries
    `within`."""
    entry = _columns(EntryRow)
    compared: dict[str, Callable[[Any], Any]] = {
        "tenant": entry.tenant.__eq__,
        "kind": lambda kind: entry.kind == str(kind),
        "entry_id": entry.id.__eq__,
        "leaf_hash": entry.leaf_hash.__eq__,
        "request_id": entry.request_id.__eq__,
        "since_ms": entry.t_ms.__ge__,
        "until_ms": entry.t_ms.__lt__,
        "outcome": lambda outcome: _has(OutcomeRow, "outcome", outcome),
        "model": lambda model: _has(OutcomeRow, "model", model),
        "actor": lambda actor: _has(ActorRow, "actor", actor),
        "rule": lambda rule: _has(RuleRow, "rule", rule),
        "place": lambda place: _has(PlaceRow, "place", place),
        "source": lambda source: _has(SourceRow, "source", source),
        "cited": lambda source: _has(CitedRow, "source", source),
        "holding": lambda source: _has(SourceRow, "source", source) | _has(HeldRow, "source", source),
        "bits": lambda bits: _has_bits(bits, within),
    }
    for field, condition in compared.items():
        if (value := getattr(query, field)) is not None:
            yield condition(value)


def _has(table: type[Base], column: str, value: object) -> Any:
    """True for an entry of which the table has that value."""
    columns = _columns(table)
    return _columns(EntryRow).idx.in_(select(columns.idx).where(columns[column] == value))


class _HasBit(FunctionElement[bool]):
    """True where a signature has that bit set."""

    inherit_cache = True
    type = Boolean()

    def __init__(self, signature: Any, bit: int) -> None:
        super().__init__(signature, literal(bit), literal((bit >> 3) + 1), literal(bytes_with(bit & 7)))


@compiles(_HasBit)
def _has_bit(element: _HasBit, compiler: Any, **options: Any) -> str:
    signature, bit, _, _ = (compiler.process(each, **options) for each in element.clauses)
    return f"get_bit({signature}, {bit}) = 1"


@compiles(_HasBit, "sqlite")
def _has_bit_sqlite(element: _HasBit, compiler: Any, **options: Any) -> str:
    """SQLite tests no bits: whether the byte is one of those that have it. A function in Python takes twice the time of
    the whole search."""
    signature, _, byte, having = (compiler.process(each, **options) for each in element.clauses)
    return f"instr({having}, substr({signature}, {byte}, 1)) > 0"


def _has_bits(wanted: Mapping[str, Sequence[int]], within: Callable[[Any], Any]) -> Any:
    """True where the signature of an entry of one of the tenants has all its bits; without bits, for every entry."""
    entry = _columns(EntryRow)
    return or_(
        false(),
        *(
            and_(entry.tenant == tenant, entry.idx.in_(_with_bits(bits, within)) if bits else true())
            for tenant, bits in wanted.items()
        ),
    )


def _with_bits(bits: Sequence[int], within: Callable[[Any], Any]) -> Any:
    """The indexes of the signatures with all the bits: one piece of each is read, of the others what that leaves."""
    (first, places), *others = by_piece(bits)
    signature = _columns(SignatureRow)
    found = select(signature.idx).where(
        signature.piece == first, within(signature.idx), *(_HasBit(signature.bits, place) for place in places)
    )
    for number, held in others:
        other = signature.idx.table.alias()
        found = found.where(
            select(other.c.idx)
            .where(
                other.c.piece == number,
                other.c.idx == signature.idx,
                *(_HasBit(other.c.bits, place) for place in held),
            )
            .correlate(signature.idx.table)
            .exists()
        )
    return found


def _in_a_piece(of_entries: Any) -> Any:
    """The rows of signatures that meet the condition on `idx`, found by the key of their table."""
    return _columns(SignatureRow).piece.in_(range(PIECES)) & of_entries


def _signatures(db: Connection, indexes: Sequence[int]) -> dict[int, bytes]:
    signature = _columns(SignatureRow)
    of_entries = _in_a_piece(signature.idx.in_(indexes))
    found: dict[int, bytes] = {}
    for idx, bits in db.execute(select(signature.idx, signature.bits).where(of_entries).order_by(signature.piece)):
        found[idx] = found.get(idx, b"") + bits
    return found


def _members(db: Connection, table: type[Base], indexes: Sequence[int]) -> dict[int, tuple[str, ...]]:
    columns = list(_columns(table))
    found: dict[int, tuple[str, ...]] = {}
    for idx, value in db.execute(select(*columns).where(columns[0].in_(indexes)).order_by(*columns)):
        found[idx] = (*found.get(idx, ()), value)
    return found
