"""Which documents a reader may meet now: active, of the tenant, begun and not expired; and until when that holds."""

from __future__ import annotations

from retrieval.registry.sql.engine import Session

END_OF_TIME_MS = 2**62
VISIBLE = (
    "d.lifecycle = 'active' AND d.tenant = ? AND (d.valid_from_ms IS NULL OR d.valid_from_ms <= ?)"
    " AND (d.valid_until_ms IS NULL OR d.valid_until_ms > ?)"
)
"""The condition on a document `d`; its parameters are those of `visible`."""


def visible(tenant: str, now_ms: int) -> tuple[str, int, int]:
    """The parameters of `VISIBLE`."""
    return tenant, now_ms, now_ms


def next_change_ms(session: Session, now_ms: int) -> int:
    """The next moment at which a document begins to be valid or ceases to be."""
    moments = (
        session.rows(f"SELECT min({column}) FROM document WHERE {column} > ?", (now_ms,))[0][0]  # noqa: S608
        for column in ("valid_from_ms", "valid_until_ms")
    )
    return min((moment for moment in moments if moment is not None), default=END_OF_TIME_MS)
