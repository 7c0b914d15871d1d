"""Appeals to the reader in what is shown of the sources: held to the rule that sentences of an answer are held to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ai.gate import asked_of, find_appeals
from ai.model import AdmittedItem, TextSpan
from ai.text.sentences import split_sentences
from policy.data import PolicyData
from retrieval.model import RecordKind

KIND = "appeal"
"""The kind of a span that is withheld for it."""


def without_appeals(items: Sequence[AdmittedItem], asked: str, data: PolicyData) -> tuple[AdmittedItem, ...]:
    """The items, each with the sentences of its passage named that make an appeal for which the question did not ask,
    unless the policy trusts its collection or tolerates the kind. Rows and computed items hold no sentences."""
    return tuple(_without(item, asked, data) for item in items)


def _without(item: AdmittedItem, asked: str, data: PolicyData) -> AdmittedItem:
    record = item.evidence.first.record
    collections = {each.source.visibility.collection for each in item.evidence.records}
    if record.kind is not RecordKind.PASSAGE or item.statement is not None or collections <= data.trusted:
        return item
    found = []
    for span in split_sentences(item.text):
        sentence = item.text[span.start : span.end]
        kinds = set(find_appeals(sentence)) - data.tolerated
        if kinds and not kinds <= set(asked_of(asked, sentence)):
            found.append(TextSpan(span.start, span.end, KIND))
    return replace(item, appeals=tuple(found)) if found else item
