"""Advice for a part that does not answer: the next command, per server and fault."""

from __future__ import annotations

from api.http.health import PartHealth

_ASK = {
    "postgresql": 'psql "$POSTGIS_DSN" -c "SELECT 1"',
    "postgis": 'psql "$POSTGIS_DSN" -c "SELECT postgis_version()"',
    "pgvector": 'psql "$POSTGIS_DSN" -c "SELECT extversion FROM pg_extension WHERE extname = \'vector\'"',
    "neo4j": 'cypher-shell -a "$NEO4J_URI" -u "$NEO4J_USER" "RETURN 1"',
    "opensearch": 'curl -fsS "$OPENSEARCH_URL/_cluster/health"',
    "opa": 'curl -fsS "$OPA_URL/health?bundles"',
    "ollama": 'curl -fsS "$OLLAMA_API_URL/api/tags"',
}
_BY_CODE = {
    "EMBED_MODEL_MISMATCH": "exhibit index reembed",
    "LEDGER_UNAVAILABLE": "exhibit ledger verify",
}
_REPAIR = "exhibit doctor --repair"
ASK_THE_LOG = 'psql "$EXHIBIT_LEDGER__DSN" -c "SELECT 1"'
"""True if the log's server answers at all."""


def is_server(health: PartHealth) -> bool:
    """True if the part is a server of somebody, not a file of ours."""
    return _product(health) in _ASK


def next_command(part: str, health: PartHealth) -> str | None:
    """The command that shows more of the fault of a part that is down, or mends it."""
    if health.ok:
        return None
    if part == "ledger" and is_server(health) and health.silent:
        return ASK_THE_LOG
    if "nothing has been ingested" in (health.said or ""):
        return "exhibit ingest PATH"
    if "exhibit index rebuild" in (health.said or ""):
        return "exhibit index rebuild"
    if health.code in _BY_CODE:
        return _BY_CODE[health.code]
    return _ASK.get(_product(health), _REPAIR)


def _product(health: PartHealth) -> str:
    """`opa` of `opa:1.22.0`."""
    return health.store.partition(":")[0]
