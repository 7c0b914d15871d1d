"""Question and map context -> intent: places, times, measures and the operations that structured data can answer."""

from ai.intent.reader import IntentReading, read_intent

__all__ = ["IntentReading", "read_intent"]
