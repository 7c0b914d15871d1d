"""Label: access facts to a visibility class. A label is stated by the manifest, by the caller or by a default per
collection; it is never assumed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from retrieval.errors import LabelMissing, ManifestError
from retrieval.ingest.values import SourceSpec
from retrieval.scope import VisibilityClass

LABELS = ("public", "internal", "confidential", "restricted")
HANDLING = ("sensitive_location", "aggregate_only", "culturally_sensitive", "pii")
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def visibility_of(
    source: SourceSpec,
    *,
    tenant: str,
    collection: str | None,
    label: str | None,
    default_labels: Mapping[str, str],
) -> VisibilityClass:
    """The class of a source. The manifest's own words win over the caller's, the caller's over the collection's
    default. Raises `LabelMissing`, or `ManifestError` for a label or handling tag that policy does not know (it would
    be refused for ever)."""
    named = source.collection or collection
    if named is None:
        raise ManifestError(f"source {source.source_id}: no collection from manifest or --collection")
    if not _COLLECTION.fullmatch(named):
        raise ManifestError(f"source {source.source_id}: {named!r} is no name of a collection")
    stated = source.access.label or label or default_labels.get(named)
    if stated is None:
        raise LabelMissing(f"source {source.source_id}: no label from manifest, --label or the collection's default")
    if stated not in LABELS:
        raise ManifestError(f"source {source.source_id}: {stated!r} is no label ({', '.join(LABELS)})")
    unknown = sorted(set(source.access.handling) - set(HANDLING))
    if unknown:
        raise ManifestError(f"source {source.source_id}: {unknown[0]!r} is no handling tag ({', '.join(HANDLING)})")
    return VisibilityClass(
        tenant=tenant,
        collection=named,
        label=stated,
        handling=source.access.handling,
        groups=source.access.groups,
        owner_group=source.access.owner_group,
        allow_list=source.access.allow_list,
    )
