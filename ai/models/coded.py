"""Blocks of code: a sentence that says what to do comes with the code that does it, where both are of one paragraph."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ai.model import PromptSource
from ai.models.candidates import Candidate, ends_in_code, is_code, is_whole
from ai.models.reading.source import ReadSource

_ASKS_FOR_CODE = re.compile(
    r"\bhow\s+(?:to|do|does|did|can|could|is|are|was|were|would|should|must|shall|will|may|might)\b"
    r"|\b(?:commands?|settings?|options?|flags?|switch|quer(?:y|ies)|statements?|snippets?|scripts?|code|lines?|requests?"
    r"|calls?|messages?|headers?|fields?|entry|repl(?:y|ies)|respon[ds]es?|respond|returns?|prints?|outputs?)\b",
    re.IGNORECASE,
)


def with_code(chosen: Sequence[Candidate], question: str, sources: Sequence[PromptSource]) -> list[Candidate]:
    """The candidates, one of prose with the block of code that its paragraph ends in, where the question asks how
    something is done or for a command."""
    found = list(chosen)
    for candidate in chosen if _ASKS_FOR_CODE.search(question) else ():
        source = _source_of(candidate, sources)
        code = None if candidate.row or source is None else _code_behind(candidate, source)
        if code is not None and all((code.index, code.start) != (each.index, each.start) for each in found):
            found.insert(found.index(candidate) + 1, code)
    return found


def shows_code(candidate: Candidate, question: str, sources: Sequence[PromptSource]) -> bool:
    """True if the candidate ends in code, or has it behind its paragraph, and the question asks for it."""
    source = _source_of(candidate, sources)
    if source is None or not _ASKS_FOR_CODE.search(question):
        return False
    return ends_in_code(candidate.text, source.text) or _code_behind(candidate, source) is not None


def _source_of(candidate: Candidate, sources: Sequence[PromptSource]) -> PromptSource | None:
    return next((each for each in sources if each.index == candidate.index), None)


def _code_behind(candidate: Candidate, source: PromptSource) -> Candidate | None:
    """The block of code behind the paragraph of a candidate, with what introduces it; None where there is none, or
    where the candidate is it."""
    read = ReadSource.of(source, lined=True, carried=True)
    at = next((n for n, each in enumerate(read.sentences) if each.start == candidate.start), len(read.sentences))
    for each in read.sentences[at + 1 :]:
        if ends_in_code(each.text, source.text):
            whole = (each.follows or is_code(each.text)) and is_whole(each.text, source)
            return Candidate(candidate.score, source.index, each.start, each.text) if whole else None
        if not each.follows:
            break
    return None
