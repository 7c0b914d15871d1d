"""Question and map context -> intent: places, times, measures and the operations that structured data can answer."""

from ai.intent.planned import planned
from ai.intent.reader import IntentReading, read_intent

__all__ = ["IntentReading", "planned", "read_intent"]
