"""A witness over HTTP (c2sp.org/tlog-witness)."""

from __future__ import annotations

import httpx

from ledger.errors import WitnessUnavailable
from ledger.witnesses.witness import TEXT_TYPE, WitnessReply

MAX_REPLY_BYTES = 64 * 1024


class HttpWitness:
    """A Witness behind a submission prefix. Connections are kept; redirects are not followed."""

    def __init__(self, url: str, *, deadline_s: float = 5.0, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._url = f"{url.rstrip('/')}/add-checkpoint"
        self._client = httpx.AsyncClient(timeout=deadline_s, transport=transport, follow_redirects=False)

    async def add_checkpoint(self, request: str) -> WitnessReply:
        """See Witness."""
        headers = {"content-type": TEXT_TYPE}
        try:
            async with self._client.stream("POST", self._url, content=request.encode(), headers=headers) as response:
                data = b""
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > MAX_REPLY_BYTES:
                        raise WitnessUnavailable(f"{self._url} answers more than {MAX_REPLY_BYTES} bytes")
                kind = response.headers.get("content-type", "")
                return WitnessReply(response.status_code, data.decode("utf-8"), kind)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeDecodeError) as exc:
            raise WitnessUnavailable(f"{self._url} cannot be asked: {type(exc).__name__}") from exc

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
