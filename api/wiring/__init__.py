"""The composition root: the only importer of backends.

`system.py` opens a home, `parts.py` and `channels.py` choose what the settings name. Every `match` ends in
`assert_never`: a new backend is a type error until it is handled here.
"""

from api.wiring.clock import clock_ms, new_id
from api.wiring.identity import token_reader
from api.wiring.ledger.entry_index import open_entry_index
from api.wiring.ledger.log import create_ledger, open_cosigner, open_witness, trust_policy
from api.wiring.models import open_chat, open_embedder, trial_model
from api.wiring.parts import upgrade_records
from api.wiring.policy import (
    OpenPolicy,
    access_terms,
    active_digest,
    bundle_folder,
    open_bundle,
    open_embedded,
    open_engine,
    open_policy,
    open_server,
    open_server_over,
    pass_canary,
    releases_of,
    require_signature,
    shadow_log,
    suspicion,
)
from api.wiring.renewal import open_renewal
from api.wiring.system import (
    System,
    explain_files,
    has_corpus,
    key_store,
    open_indexes,
    open_ingest,
    open_job_store,
    open_ledger,
    open_source_life,
    open_system,
    profile_of,
    require_corpus,
    require_ledger,
    tenant_store,
)

__all__ = [
    "OpenPolicy",
    "System",
    "access_terms",
    "active_digest",
    "bundle_folder",
    "clock_ms",
    "create_ledger",
    "explain_files",
    "has_corpus",
    "key_store",
    "new_id",
    "open_bundle",
    "open_chat",
    "open_cosigner",
    "open_embedded",
    "open_embedder",
    "open_engine",
    "open_entry_index",
    "open_indexes",
    "open_ingest",
    "open_job_store",
    "open_ledger",
    "open_policy",
    "open_renewal",
    "open_server",
    "open_server_over",
    "open_source_life",
    "open_system",
    "open_witness",
    "pass_canary",
    "profile_of",
    "releases_of",
    "require_corpus",
    "require_ledger",
    "require_signature",
    "shadow_log",
    "suspicion",
    "tenant_store",
    "token_reader",
    "trial_model",
    "trust_policy",
    "upgrade_records",
]
