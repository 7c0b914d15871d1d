"""The check for ingested text that reads like an instruction. A function of a module, so that another process can be
told of it by its name."""

from __future__ import annotations

from functools import lru_cache

from ai.gate.detect import scan_text
from ai.gate.rules import shipped_rules


@lru_cache(maxsize=4096)  # the cells of a row share its words
def reads_like_instruction(text: str, *, threshold_milli: int) -> bool:
    """True if the shipped rules find more in the text than the threshold, in thousandths."""
    return scan_text(text, rules=shipped_rules()).score_milli > threshold_milli
