"""Names, analysis and mapping of the full-text indexes on an OpenSearch server. Pure: asks no server.

A visibility class has an alias, `<prefix>-<class key>`; behind it stands one version, `<prefix>-<class key>-<version>`,
which never changes once it is published.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval.english.stems import stem
from retrieval.fulltext.spellings import SPELLINGS
from retrieval.fulltext.terms import PHRASE_BOOST, Terms, read_terms
from retrieval.scope import digest

PREFIX = "exhibit-fulltext"
LONGEST_WORD = 80
_WORD = re.compile(r"[^\W_]+")
_KEY, _VERSION = 32, 16  # hexadecimal digits
_MOST_TERMS = 60_000  # the server takes 65,536 in one list

ANALYSIS: Mapping[str, Any] = {
    "tokenizer": {"exhibit_words": {"type": "pattern", "pattern": r"[^\p{L}\p{N}]+"}},
    "filter": {
        "exhibit_short": {"type": "length", "max": LONGEST_WORD},
        "exhibit_stems": {"type": "snowball", "language": "English"},
        "exhibit_spellings": {
            "type": "synonym",
            "synonyms": [f"{', '.join(others)} => {first}" for first, *others in SPELLINGS],
        },
    },
    "chain": ["exhibit_short", "lowercase", "asciifolding", "exhibit_stems", "exhibit_spellings"],
}
# Named after what it does: an index that was made with another analysis refuses the query instead of missing words.
ANALYZER = "exhibit_" + digest(ANALYSIS).removeprefix("sha256:")[:12]
MAPPING: Mapping[str, Any] = {
    "dynamic": "strict",
    "_meta": {"format": f"exhibit.fulltext.opensearch/1 {ANALYZER}"},
    "properties": {
        "class_id": {"type": "keyword"},
        "document_id": {"type": "keyword"},
        "marker": {"type": "boolean"},
        "record_id": {"type": "keyword"},
        "text": {"type": "text", "analyzer": ANALYZER},
    },
}
# Replicas as soon as there is a second node; visible only when the writer says so.
SETTINGS: Mapping[str, Any] = {"index.auto_expand_replicas": "0-1", "index.refresh_interval": "-1"}


@dataclass(frozen=True, slots=True)
class IndexNames:
    """The names of one home's indexes on a server that others use too."""

    prefix: str = PREFIX

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,60}", self.prefix):
            raise ValueError(f"not a prefix of index names: {self.prefix!r}")

    @property
    def state(self) -> str:
        """The index that says which classes there are."""
        return f"{self.prefix}-state"

    @property
    def everything(self) -> str:
        """A pattern that matches all of them, and those of a longer prefix: see `key_of`."""
        return f"{self.prefix}-*"

    def alias(self, key: str) -> str:
        """The names in a search."""
        return f"{self.prefix}-{key}"

    def new_version(self, key: str) -> str:
        """A name that no index had before."""
        return f"{self.prefix}-{key}-{secrets.token_hex(_VERSION // 2)}"

    def writable(self, version: str) -> str:
        """The alias through which a version is written: when the version is gone, so is the alias, and a late write
        makes no index."""
        return f"{version}-w"

    def key_of(self, version: str) -> str | None:
        """The class key in the name of a version; None for a name that is not one of ours."""
        found = re.fullmatch(
            rf"{re.escape(self.prefix)}-([0-9a-f]{{{_KEY}}})-[0-9a-f]{{{_VERSION}}}", version, re.ASCII
        )
        return found and found[1]


def class_key(class_id: str) -> str:
    """The part of index names that stands for a class."""
    return _hexadecimal(class_id)[:_KEY]


def creation() -> dict[str, Any]:
    """The body that makes an empty version."""
    analysis = {
        "tokenizer": ANALYSIS["tokenizer"],
        "filter": ANALYSIS["filter"],
        "analyzer": {ANALYZER: {"type": "custom", "tokenizer": "exhibit_words", "filter": ANALYSIS["chain"]}},
    }
    return {"settings": {**SETTINGS, "index.number_of_shards": 1, "analysis": analysis}, "mappings": MAPPING}


def entry(record_id: str, document_id: str, class_id: str, text: str) -> tuple[str, dict[str, Any]]:
    """Id and source of what a record contributes."""
    source = {"record_id": record_id, "document_id": document_id, "class_id": class_id, "text": _plain(text)}
    return _hexadecimal(f"record\n{record_id}"), source


def marker(document_id: str, class_id: str) -> tuple[str, dict[str, Any]]:
    """Id and source of the entry that lists a document, also one that contributes no text."""
    source = {"document_id": document_id, "class_id": class_id, "marker": True}
    return _hexadecimal(f"document\n{document_id}"), source


def question_terms(text: str) -> Terms:
    """The words that a question looks for, in the form that the server's analysis takes; each stem once."""
    clean = _plain(text)
    terms = read_terms(clean, split=_folded, stem=_stems)
    written = {s: w for w, s in zip(reversed(_words(clean)), reversed(_stems(clean)), strict=True)}
    phrases = tuple(tuple(written[s] for s in phrase if s in written) for phrase in terms.phrases)
    return Terms(tuple(written[s] for s in terms.words), phrases)


def search_body(
    terms: Terms, class_ids: Sequence[str], documents: Collection[str] | None, *, size: int
) -> dict[str, Any]:
    """Any word may match, a quoted phrase that occurs counts extra, and only entries of the classes, and of the
    documents if given, are seen. Every hit comes with what it is sorted by and its class, and nothing else."""
    phrases = [
        {"match_phrase": {"text": {"query": " ".join(phrase), "analyzer": ANALYZER, "boost": PHRASE_BOOST}}}
        for phrase in terms.phrases
    ]
    filters = [_scope(class_ids), *([] if documents is None else [_among(sorted(documents))])]
    return {
        "query": {"bool": {"filter": filters, "should": [_match(*terms.words), *phrases], "minimum_should_match": 1}},
        "size": size,
        "sort": [{"_score": "desc"}, {"record_id": "asc"}],
        "track_scores": True,
        "track_total_hits": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["class_id"],
    }


def frequencies_body(terms: Terms, class_ids: Sequence[str]) -> dict[str, Any]:
    """In how many entries each word occurs."""
    return {
        "query": {"bool": {"filter": [_scope(class_ids), _match(*terms.words)]}},
        "size": 0,
        "track_total_hits": False,
        "aggs": {"words": {"filters": {"filters": [_match(word) for word in terms.words]}}},
    }


def entries_body(class_ids: Sequence[str]) -> dict[str, Any]:
    """How many entries have words."""
    has_words = {"exists": {"field": "text"}}
    return {"query": {"bool": {"filter": [_scope(class_ids), has_words]}}, "size": 0, "track_total_hits": True}


def _match(*words: str) -> dict[str, Any]:
    return {"match": {"text": {"query": " ".join(words), "analyzer": ANALYZER}}}


def _scope(class_ids: Sequence[str]) -> dict[str, Any]:
    return {"terms": {"class_id": list(class_ids)}}


def _among(documents: Sequence[str]) -> dict[str, Any]:
    slices = [documents[start : start + _MOST_TERMS] for start in range(0, len(documents), _MOST_TERMS)]
    return {"bool": {"should": [{"terms": {"document_id": list(some)}} for some in slices or [()]]}}


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if len(word) <= LONGEST_WORD]


def _folded(text: str) -> list[str]:
    return [word.casefold() for word in _words(text)]


def _stems(text: str) -> list[str]:
    return [stem(word) for word in _folded(text)]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())


def _hexadecimal(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
