"""The composition root: the only importer of backends.

`system.py` opens a home, `parts.py` and `channels.py` choose what the settings name. Every `match` ends in
`assert_never`: a new backend is a type error until it is handled here.
"""

from api.wiring.clock import clock_ms, new_id
from api.wiring.parts import open_bundle, open_chat, open_embedder, open_engine
from api.wiring.system import (
    TEMPLATE,
    System,
    key_store,
    open_indexes,
    open_ingest,
    open_ledger,
    open_system,
    profile_of,
    require_corpus,
)

__all__ = [
    "TEMPLATE",
    "System",
    "clock_ms",
    "key_store",
    "new_id",
    "open_bundle",
    "open_chat",
    "open_embedder",
    "open_engine",
    "open_indexes",
    "open_ingest",
    "open_ledger",
    "open_system",
    "profile_of",
    "require_corpus",
]
