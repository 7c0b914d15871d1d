"""The trace that a request belongs to (W3C Trace Context), as its entry names it: what an operator's tracing shows and
what the log proves are found from each other."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

TRACE = "trace"
_OPENTELEMETRY = "opentelemetry.trace"


def traced(asked: Mapping[str, Any]) -> dict[str, Any]:
    """`asked` with the trace and the span that are open now: `{"trace_id": 32 hex digits, "span_id": 16}`; unchanged
    without a trace."""
    if _OPENTELEMETRY not in sys.modules:  # then nobody opened a span, and the library takes its time to import
        return dict(asked)
    from opentelemetry.trace import format_span_id, format_trace_id, get_current_span  # noqa: PLC0415

    open_now = get_current_span().get_span_context()
    if not open_now.is_valid:
        return dict(asked)
    ids = {"trace_id": format_trace_id(open_now.trace_id), "span_id": format_span_id(open_now.span_id)}
    return {**asked, TRACE: ids}
