"""Headers of every request to Ollama, whichever call of the package makes it."""

from __future__ import annotations

import json
from ssl import SSLContext

import httpx

_GENERATING = ("/api/generate", "/api/chat")
# Without these, for which the package has no arguments, the server cuts a prompt and slides its window in silence.
_ALOUD = {"truncate": False, "shift": False}


class OllamaTransport(httpx.AsyncHTTPTransport):
    """Puts our token, or none, in the place of that of the environment, and asks for an error where the server would
    cut the prompt."""

    def __init__(self, *, verify: SSLContext | bool, token: str | None) -> None:
        super().__init__(verify=verify, trust_env=False)
        self._token = token

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        headers = [(name, value) for name, value in request.headers.multi_items() if name != "authorization"]
        if self._token is not None:
            headers.append(("authorization", f"Bearer {self._token}"))
        content = await request.aread()
        if request.url.path.endswith(_GENERATING):
            content = json.dumps(json.loads(content) | _ALOUD, ensure_ascii=False).encode()
        headers = [(name, value) for name, value in headers if name != "content-length"]
        sent = httpx.Request(
            request.method, request.url, headers=headers, content=content, extensions=request.extensions
        )
        return await super().handle_async_request(sent)
