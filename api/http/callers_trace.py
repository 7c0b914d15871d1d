"""The trace of the caller (`traceparent`, W3C Trace Context), taken in where no tracing does so already. Plain ASGI."""

from __future__ import annotations

from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import ASGIApp, Receive, Scope, Send

_HEADER = b"traceparent"


class CallersTrace:
    """Makes the caller's span the current one, so that entries name it. Where an OpenTelemetry SDK is set up, the
    framework has opened a span for the request, child of the caller's, and that is the one that entries name."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._propagator = TraceContextTextMapPropagator()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or get_current_span().get_span_context().is_valid:
            await self._app(scope, receive, send)
            return
        token = attach(self._named(scope))
        try:
            await self._app(scope, receive, send)
        finally:
            detach(token)

    def _named(self, scope: Scope) -> Context:
        """The caller's span; none where the header is not in its form, or there twice, as the standard says."""
        given = [value for name, value in scope["headers"] if name == _HEADER]
        carrier = {_HEADER.decode(): given[0].decode("latin-1")} if len(given) == 1 else {}
        return self._propagator.extract(carrier, Context())
