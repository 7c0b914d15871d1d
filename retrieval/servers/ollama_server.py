"""The way to an Ollama server, for whoever asks it for vectors or words: nothing of the environment, no redirect."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx import AsyncClient as HttpClient
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
        self._opened: tuple[AsyncClient, HttpClient] | None = None

    @property
    def client(self) -> AsyncClient:
        """The package's client. Raises httpx.InvalidURL and ValueError for an address that is none."""
        return self._clients()[0]

    async def version(self) -> str:
        """The server's version, which the package has no call for. Raises what the package raises."""
        from ollama import ResponseError  # noqa: PLC0415

        answer = await self._clients()[1].get("/api/version")
        if answer.is_error:
            raise ResponseError(answer.text, answer.status_code)
        return str(answer.json().get("version", ""))

    async def aclose(self) -> None:
        """Close the connections; a second call does nothing."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened[0].close()  # type: ignore[no-untyped-call]
            await opened[1].aclose()

    def _clients(self) -> tuple[AsyncClient, HttpClient]:
        if self._opened is None:
            import httpx  # noqa: PLC0415
            from ollama import AsyncClient  # noqa: PLC0415  1.7 s to import

            from retrieval.servers.ollama_transport import OllamaTransport  # noqa: PLC0415

            verify = True if self._certificates is None else self._certificates
            transport = OllamaTransport(verify=verify, token=self._token)
            timeout = httpx.Timeout(self._answer_s, connect=_CONNECT_S)
            self._opened = (
                AsyncClient(
                    host=self._url, timeout=timeout, follow_redirects=False, trust_env=False, transport=transport
                ),
                httpx.AsyncClient(base_url=self._url, timeout=timeout, trust_env=False, transport=transport),
            )
        return self._opened
