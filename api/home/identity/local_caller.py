"""The subject of the local command line. Whoever holds the folder is trusted to say; the ledger records it as local."""

from __future__ import annotations

from api.errors import RequestRejected
from api.home.identity.principal import LOCAL_ID
from policy.data import PolicyData
from policy.model import Subject


def local_subject(data: PolicyData, *, role: str, groups: str | None, tenant: str) -> Subject:
    """The subject that options name; `role` and `groups` are comma-separated. Raises RequestRejected for a role that
    the policy does not know: it would see what a public viewer sees, and a slip would look like missing evidence."""
    known = {*data.roles, *data.aliases}
    if unknown := [word for word in _words(role) if word not in known]:
        raise RequestRejected(f"unknown role {unknown[0]!r}; known: {', '.join(sorted(known))}")
    return Subject.of(
        id=LOCAL_ID,
        tenant=tenant,
        roles=_words(role),
        data=data,
        groups=_words(groups or ""),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
