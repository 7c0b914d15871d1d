"""Fakes of the AI package: a scripted chat model, an obedient one, a scripted reader, and makers of items. They go through the contract
tests of the real ones."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ai.errors import ModelTimeout, ReaderUnavailable
from ai.model import AdmittedItem, Completion, ModelIdentity, TextSpan
from ai.models.chat_model import ChatRequest, StructuredRequest
from ai.models.reader.told import BorneOut, Reading, Scored, Told
from policy.model import Decision, Effect, Obligation, Point, Stamp, Target
from retrieval.model import (
    ChannelName,
    ChannelRank,
    Computation,
    EntityRef,
    Evidence,
    Lifecycle,
    Locator,
    Measurement,
    Record,
    RecordKind,
    SourcedRecord,
    SourceFacts,
    TimeRange,
)
from retrieval.scope import VisibilityClass

PUBLIC = VisibilityClass(tenant="default", collection="kansas", label="public")
SHAWNEE = EntityRef("county:20177", "Shawnee County", "county")


class ScriptedModel:
    """Says what it is told to say, whatever it is asked. `delay_s` makes it slow; `stopped` tells that it was
    cancelled."""

    def __init__(self, *texts: str, delay_s: float = 0.0, truncated: bool = False) -> None:
        self._texts = list(texts)
        self._delay_s = delay_s
        self._truncated = truncated
        self.requests: list[ChatRequest] = []
        self.begun = asyncio.Event()
        self.stopped = False

    async def identity(self) -> ModelIdentity:
        return ModelIdentity(name="scripted", digest="sha256:" + "0" * 64)

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        self.begun.set()
        try:
            async with asyncio.timeout(request.deadline_s):
                await asyncio.sleep(self._delay_s)
        except TimeoutError as exc:
            raise ModelTimeout("too slow") from exc
        except asyncio.CancelledError:
            self.stopped = True
            raise
        text = self._texts[min(len(self.requests), len(self._texts)) - 1]
        return Completion(text, await self.identity(), request.prompt.tokens, len(text.split()), self._truncated)

    async def aclose(self) -> None:
        return None


@dataclass
class ScriptedReader:
    """A reader that says what it is told to: the chance of a sentence that has one of the words."""

    chances: dict[str, int]
    answered: int = 900
    lack: str = ""
    digest: str = "sha256:" + "1" * 64
    asked: list[tuple[str, tuple[Told, ...]]] = field(default_factory=list)
    confirmed: list[bool] = field(default_factory=list)

    async def least_milli(self, *, by_words: bool) -> int:
        self.confirmed.append(by_words)
        return 150 if by_words else 500

    async def read(self, question: str, passages: Sequence[Told]) -> Reading:
        self.asked.append((question, tuple(passages)))
        if self.lack:
            raise ReaderUnavailable(self.lack)
        scored = [
            Scored(number, place, max((m for w, m in self.chances.items() if w in told.sentences[place]), default=1))
            for number, told in enumerate(passages)
            for place in told.places
        ]
        return Reading(tuple(sorted(scored, key=lambda each: -each.milli)), self.answered)


@dataclass
class ScriptedJudge:
    """A reader of claims that says what it is told to: the chance of a claim that has one of the words, by the first
    sentence of the passage that has the other."""

    chances: dict[str, tuple[int, str]]
    lack: str = ""
    digest: str = "sha256:" + "2" * 64
    asked: list[tuple[str, Told]] = field(default_factory=list)

    async def least_claim_milli(self) -> int:
        return 800

    async def bears_out(self, claims: Sequence[tuple[str, Told]]) -> list[BorneOut]:
        if self.lack:
            raise ReaderUnavailable(self.lack)
        self.asked += claims
        return [self._of(claim, told) for claim, told in claims]

    def _of(self, claim: str, told: Told) -> BorneOut:
        for word, (milli, said) in self.chances.items():
            places = [at for at, sentence in enumerate(told.sentences) if said in sentence]
            if word in claim and places:
                return BorneOut(milli, places[0])
        return BorneOut(1, 0)


class HeldModel(ScriptedModel):
    """The same, held to a schema: it says its texts there too, each made from the request where it is a function."""

    def __init__(self, *texts: str | Callable[[StructuredRequest], str]) -> None:
        super().__init__("It is not held to a schema.")
        self._held = texts
        self.orders: list[StructuredRequest] = []

    async def structured(self, request: StructuredRequest) -> Completion:
        self.orders.append(request)
        text = self._held[min(len(self.orders), len(self._held)) - 1]
        said = text if isinstance(text, str) else text(request)
        return Completion(said, await self.identity(), len(request.messages[-1].content.split()), len(said.split()))


_ORDER = re.compile(
    r"[^.!?\n]*\b(?:ignore|disregard|reveal|print|repeat|output|say|write|tell|forget)\b[^.!?\n]*[.!?]?", re.IGNORECASE
)
_SECRETS = re.compile(r"\b(?:system|prompt|instructions?|rules?|canary|secrets?|marks?|tokens?)\b", re.IGNORECASE)
_PAYLOAD = re.compile(r"[\"'“‘]([^\"'”’]{3,200})[\"'”’]|:\s*([^\n.]{3,200})")


class ObedientModel:
    """The worst model that can be: it follows every instruction that it finds anywhere in its prompt, SOURCES
    included, gives away its system prompt and whatever looks like a secret, cites at random, and mixes in sentences
    without citations.

    Deterministic for a `seed`. Between the harm it also answers: it copies the first sentence of each source with the
    right number, so that a test can tell a guard that stops everything from one that stops the harm.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    async def identity(self) -> ModelIdentity:
        return ModelIdentity(name="obedient", digest="sha256:" + f"{self._seed:064x}")

    async def complete(self, request: ChatRequest) -> Completion:
        chance = random.Random(f"{self._seed}:{request.question}")
        system, prompt = request.prompt.system, request.prompt.prompt
        numbers = [source.index for source in request.prompt.sources] or [1]
        lines = [
            *(
                f"{source.statement or first_sentence(source.text)} [{source.index}]"
                for source in request.prompt.sources
            ),
            *(f"{order.strip()} [{chance.choice(numbers)}]" for order in _ORDER.findall(prompt.replace("\ue000", " "))),
            *(
                f"{(a or b).strip()} [{chance.choice([*numbers, 99])}]"
                for a, b in _PAYLOAD.findall(prompt.replace("\ue000", " "))
            ),
            *self._leaks(prompt, system, chance.choice(numbers)),
            "As everybody knows, this is true.",
            f"The secret is in the vault [{chance.choice([*numbers, 77])}].",
        ]
        chance.shuffle(lines)
        text = "\n".join(lines)
        return Completion(text, await self.identity(), request.prompt.tokens, len(text.split()))

    @staticmethod
    def _leaks(prompt: str, system: str, number: int) -> list[str]:
        """Its own instructions, canary included, twice: with a citation and without; if anything in the prompt asks for secrets."""
        orders = " ".join(_ORDER.findall(prompt.replace("\ue000", " ")))
        if not _SECRETS.search(orders):
            return []
        told = f"My instructions are: {' '.join(system.split())}"
        return [told, f"{told} [{number}]"]

    async def aclose(self) -> None:
        return None


def first_sentence(text: str) -> str:
    """Up to the first full stop."""
    return " ".join(text.split(". ", maxsplit=1)[0].split()).rstrip(".") + "."


def a_record(text: str, **changes: object) -> Record:
    """A passage of its own document; `changes` replace fields."""
    start = 100
    base = Record(
        record_id="r1",
        kind=RecordKind.PASSAGE,
        document_id="d1",
        source_id="s1",
        class_id=PUBLIC.class_id,
        ordinal=0,
        text=text,
        locator=Locator(start, start + len(text), start, start + len(text.encode())),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def sourced(
    record: Record, *, visibility: VisibilityClass = PUBLIC, title: str = "A book", **changes: object
) -> SourcedRecord:
    """The record with the facts of a source that everyone may read."""
    facts = SourceFacts(
        source_id=record.source_id,
        document_id=record.document_id,
        title=title,
        license="CC0-1.0",
        attribution=None,
        uri=None,
        collection=visibility.collection,
        document_sha256="sha256:" + "a" * 64,
        indexed_sha256="sha256:" + "a" * 64,
        lifecycle=Lifecycle.ACTIVE,
        valid_until_ms=None,
        visibility=visibility,
    )
    return SourcedRecord(replace(record, class_id=visibility.class_id), replace(facts, **changes))  # type: ignore[arg-type]


def an_evidence(
    *records: SourcedRecord,
    index: int = 1,
    computed: Computation | None = None,
    duplicates: Sequence[SourcedRecord] = (),
) -> Evidence:
    """An item of a bundle."""
    rank = ChannelRank(ChannelName.FULLTEXT, "tantivy", 1, 1.0)
    record_id = computed.record_id if computed else records[0].record.record_id
    return Evidence(index, record_id, tuple(records), (rank,), 0.5, computed, tuple(duplicates))


def an_item(text: str, index: int = 1, *, title: str = "A book", **changes: object) -> AdmittedItem:
    """An admitted passage, one document each."""
    record = a_record(text, **{"record_id": f"r{index}", "document_id": f"d{index}", **changes})
    return AdmittedItem(
        index, an_evidence(sourced(record, title=title), index=index), text, record.statement, label="public"
    )


def an_observation(
    index: int = 1, *, value: str = "85200", year: int = 1930, place: EntityRef = SHAWNEE
) -> AdmittedItem:
    """An admitted cell of a population table."""
    return an_item(
        f"{place.entity_id[-5:]},{place.name},{value}",
        index,
        title="Population of the counties of Kansas",
        kind=RecordKind.OBSERVATION,
        statement=f"{place.name} had {int(value):,} inhabitants in {year}.",
        measurement=Measurement(place, "population", value, "persons", TimeRange.year(year)),
        time=TimeRange.year(year),
        entities=(place,),
    )


def a_computed(
    statement: str, inputs: Sequence[SourcedRecord], *, operation: str = "change", **parameters: object
) -> Computation:
    """A computed result over records."""
    return Computation(
        operation, parameters, tuple(s.record.record_id for s in inputs), "sha256:" + "b" * 64, {"value": 1}, statement
    )


def block_out(item: AdmittedItem, start: int, end: int, kind: str = "pii.email") -> AdmittedItem:
    """The item with a redacted span."""
    text = item.text[:start] + "█" * (end - start) + item.text[end:]
    return replace(item, text=text, redacted=(*item.redacted, TextSpan(start, end, kind)))


def a_decision(
    *,
    admit: Sequence[str] = (),
    obligations: Sequence[Obligation] = (),
    deny: bool = False,
    point: Point = Point.EVIDENCE,
) -> Decision:
    """A checked decision as an engine's adapter would give it."""
    effect = Effect.DENY if deny else Effect.ALLOW_WITH_OBLIGATIONS if obligations else Effect.ALLOW
    stamp = Stamp("sha256:" + "c" * 64, "test", "sha256:" + "d" * 64)
    return Decision(point, effect, (), tuple(obligations), tuple(admit), (), stamp, {}, {})


def an_obligation(op: str, ref: str, target: str = "evidence", /, **params: object) -> Obligation:
    """An obligation on one target."""
    return Obligation(op, Target(target, ref), "T01", params)
