"""The way to an Ollama server, for whoever asks it for vectors or words: nothing of the environment, no redirect."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssl import SSLContext

    from ollama import AsyncClient

_CONNECT_S = 5.0


class OllamaConnections:
    """Connections to one server, made with the first use. `answer_s` is the longest wait for a part of an answer (None:
    who asks keeps the time); `token` and `certificates` are for a server behind a proxy."""

    def __init__(
        self,
        url: str,
        *,
        answer_s: float | None = None,
        token: str | None = None,
        certificates: SSLContext | None = None,
    ) -> None:
        self._url = url
        self._answer_s = answer_s
        self._token = token
        self._certificates = certificates
        self._client: AsyncClient | None = None

    @property
    def client(self) -> AsyncClient:
        """The package's client. Raises httpx.InvalidURL and ValueError for an address that is none."""
        if self._client is None:
            import httpx  # noqa: PLC0415
            from ollama import AsyncClient  # noqa: PLC0415  1.7 s to import

            self._client = AsyncClient(
                host=self._url,
                timeout=httpx.Timeout(self._answer_s, connect=_CONNECT_S),
                follow_redirects=False,
                trust_env=False,
                headers=None if self._token is None else {"Authorization": f"Bearer {self._token}"},
                verify=True if self._certificates is None else self._certificates,
            )
            if self._token is None:  # the package would send OLLAMA_API_KEY, which is for another server
                self._client._client.headers.pop("authorization", None)
        return self._client

    async def aclose(self) -> None:
        """Close the connections; a second call does nothing."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()  # type: ignore[no-untyped-call]
