"""The OPA server as engine: one HTTP call per decision, under one deadline, never repeated.

The server's data API is asked for exact entry points (a package's document would show every rule), with provenance: OPA
names, in the same transaction as the evaluation, the bundles that it serves. A reply counts only if one of them has our
bundle's digest as its revision; so a server that was given another bundle decides nothing, without anyone being told.

A decision is a pure function, but a call is not repeated even so: the deadline is the caller's, and a second try would
hide a failing server behind a doubled latency. An input that makes a rule fail is an answer (HTTP 500) and would fail
again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from policy.bundles.bundle import ENTRYPOINTS
from policy.canonical import encode_plain, parse_plain
from policy.engine import MAX_INPUT_BYTES, Reply
from policy.errors import InputRejected, OpaUnavailable
from policy.opa.http import OpaHttp

_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}", re.ASCII)
Guard = Callable[[float], AbstractContextManager[object]]
"""Around one exchange of at most so many seconds; may raise OpaUnavailable instead of entering."""

_PATHS = {each: f"/v1/data/{each}?provenance=true" for each in ENTRYPOINTS}


class OpaServerEngine:
    """PolicyEngine over an OPA server that serves the bundle with the digest `bundle_digest` as its revision."""

    def __init__(self, *, http: OpaHttp, bundle_digest: str, guard: Guard = nullcontext) -> None:
        self._http = http
        self._bundle_digest = bundle_digest
        self._guard = guard
        self._name = "opa"

    @classmethod
    def open(
        cls,
        url: str,
        *,
        bundle_digest: str,
        token: str | None = None,
        ca_file: Path | None = None,
        guard: Guard = nullcontext,
    ) -> OpaServerEngine:
        """An engine for the server at `url`: http://, https:// or unix:///path/to/socket.

        `token` is sent as bearer token; `ca_file` (PEM) replaces the system's certificate authorities. The server need
        not run yet. Raises OpaUnavailable for an address, a token or a file that cannot be used.
        """
        return cls(http=OpaHttp(url, token=token, ca_file=ca_file), bundle_digest=bundle_digest, guard=guard)

    @property
    def name(self) -> str:
        """Product and version; the version is known once the server has answered."""
        return self._name

    @property
    def bundle_digest(self) -> str:
        """Digest of the bundle that must decide."""
        return self._bundle_digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine. What it raises is OpaUnavailable."""
        if self._http.closed:
            raise OpaUnavailable("CLOSED", "is no longer asked: the engine is closed")
        if entrypoint not in _PATHS:
            raise OpaUnavailable("ENTRYPOINT", f"is not asked for {entrypoint}")
        if len(input) > MAX_INPUT_BYTES:
            raise OpaUnavailable("INPUT_TOO_LARGE", "is not given an input of that size")
        if deadline_s <= 0:
            raise OpaUnavailable("TIMEOUT", "was left no time")
        with self._guard(deadline_s):
            content = b"".join((b'{"input":', input, b"}"))
            status, body = await self._http.post(_PATHS[entrypoint], content, deadline_s=deadline_s)
        return self._reply(status, body)

    async def aclose(self) -> None:
        """See PolicyEngine."""
        await self._http.aclose()

    def _reply(self, status: int, body: bytes) -> Reply:
        """The result in a complete reply. Raises OpaUnavailable for all but a result, or none, of our bundle."""
        if status in (401, 403):
            raise OpaUnavailable("CREDENTIALS", "does not accept our token")
        if status != 200:
            raise OpaUnavailable("STATUS", f"replied with status {status}")
        document = _object(body)
        provenance = document.get("provenance")
        provenance = provenance if isinstance(provenance, dict) else {}
        self._same_bundle(_revisions(provenance))
        self._name = _name(provenance)
        results = [{"result": document["result"]}] if "result" in document else []
        try:
            return Reply(results=encode_plain(results), bundle_digest=self._bundle_digest)
        except InputRejected as exc:
            raise OpaUnavailable("NOT_JSON", "replied with half of a surrogate pair") from exc

    def _same_bundle(self, revisions: set[str]) -> None:
        if not revisions:
            raise OpaUnavailable("BUNDLE_UNNAMED", "serves no bundle, or does not say which")
        if self._bundle_digest not in revisions:
            raise OpaUnavailable("BUNDLE_MISMATCH", f"serves another bundle than {self._bundle_digest}")


def _object(body: bytes) -> dict[str, Any]:
    try:
        document = parse_plain(body)
    except ValueError as exc:
        raise OpaUnavailable("NOT_JSON", "replied with something other than plain JSON") from exc
    if not isinstance(document, dict):
        raise OpaUnavailable("SCHEMA", "replied with something other than an object")
    return document


def _revisions(provenance: Mapping[str, Any]) -> set[str]:
    """The revisions of the bundles that the server names."""
    bundles = provenance.get("bundles")
    found = list(bundles.values()) if isinstance(bundles, dict) else []
    revisions = [each.get("revision") for each in found if isinstance(each, dict)]
    return {each for each in revisions if isinstance(each, str)}


def _name(provenance: Mapping[str, Any]) -> str:
    version = provenance.get("version")
    return f"opa:{version}" if isinstance(version, str) and _VERSION.fullmatch(version) else "opa"
