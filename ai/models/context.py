"""Admitted items to the exact text that a model reads: numbered SOURCES inside token budgets, map context,
instructions.

The prompt is a function of its arguments, byte for byte, and is kept for replay. Text of others enters it only through
`neutralise`: no source, title, map string or question can close its own block, open another, forge a marker or a chat
turn.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING

from ai.errors import PromptTooLong, TemplateNotFound
from ai.model import AdmittedItem, MapContext, Offer, PromptSource, RenderedPrompt, mode_of
from ai.models.offers import OFFERING_ANY, offers_of
from ai.text.catalogue import ABSTAIN, PHRASES
from ai.text.markdown import plain
from ai.text.sentences import split_sentences
from prompt_templates import PromptTemplate, load_template, template_for
from retrieval.algebra.json import plan_of, resolves
from retrieval.algebra.operations import Change, Compare, Lookup, Operation
from retrieval.algebra.plan import Plan
from retrieval.bundle import count_tokens
from retrieval.model import Computation, Intent, Measurement, RecordKind

if TYPE_CHECKING:
    from jinja2 import Template as JinjaTemplate

DATAMARK = "\ue000"
"""Stands for spaces in datamarked text (spotlighting; Hines et al. 2024, arXiv:2403.14720): a private-use sign that no
instruction carries."""

_MAX_TITLE_CHARS = 160
_MIN_CUT_TOKENS = 24
_ROW_TEXT_CHARS = 400
_FORGED = re.compile(r"\[(?=\s*+\^?(?:\d|/?\s*(?:inst|sys|source|ref|citation)))([^\[\]\n]{0,80})\]", re.IGNORECASE)
_BRACKETS = str.maketrans(
    {"<": "‹", ">": "›", "【": "(", "】": ")", "［": "(", "］": ")", DATAMARK: " ", '"': "”", "\x00": " "}
)
_SPACE = re.compile(r"\s+")
_SPACES = re.compile(r"[^\S\n]+")


@dataclass(frozen=True, slots=True)
class ContextBudgets:
    """Limits in tokens of `count_tokens`: per source, for the whole prompt, and what of the latter is kept free for
    the answer; and for all sources together, where that is bounded apart."""

    max_tokens_per_source: int = 320
    max_tokens: int = 3600
    reserve: int = 700
    max_context_tokens: int | None = None


def template_named(name: str) -> PromptTemplate:
    """The prompt template `name`, else `TemplateNotFound`."""
    return template_of(name, "")


def template_of(name: str, model: str) -> PromptTemplate:
    """The prompt template `name`; for the name of a mode (`focus_select`) the one of the family of that model. Raises
    `TemplateNotFound`."""
    try:
        return load_template(name if "/" in name else template_for(name, model))
    except LookupError as exc:
        raise TemplateNotFound(str(exc)) from exc


def neutralise(text: str) -> str:
    """`text` without anything that looks like the prompt's own marks: angle and lenticular brackets, double quotes,
    numbered or role brackets, the datamark, and runs of space."""
    plain = _SPACES.sub(" ", text.translate(_BRACKETS))
    while (softer := _FORGED.sub(r"(\1)", plain)) != plain:
        plain = softer
    return plain.strip()


def render_prompt(
    question: str,
    items: Sequence[AdmittedItem],
    context: MapContext,
    *,
    intent: Intent,
    template: PromptTemplate,
    budgets: ContextBudgets,
    canary: str | None,
) -> RenderedPrompt:
    """The prompt for `question` over `items`, whose numbers it keeps.

    `sources` of the result are those that fitted, in order of number and
    in their own exact words; direct answers have the first claim on the
    budget. Raises `PromptTooLong` when not even the frame fits.
    """
    datamarked = {item.index for item in items if item.datamarked}
    frame = _Frame(
        question=neutralise(question),
        map_context=_map_lines(context),
        canary=canary,
        datamarked=bool(datamarked),
        template=template,
    )
    room = budgets.max_tokens - budgets.reserve - sum(map(count_tokens, frame.render(())))
    if room < 0:
        raise PromptTooLong(f"question and instructions exceed {budgets.max_tokens - budgets.reserve} tokens")
    if budgets.max_context_tokens is not None:
        room = min(room, budgets.max_context_tokens)
    sources = _fit([prompt_source(item, intent) for item in items], budgets.max_tokens_per_source, room)
    plausible = template.name not in OFFERING_ANY
    offers = offers_of(sources, question, intent, plausible=plausible) if mode_of(template.name) == "select" else ()
    system, prompt = frame.render(
        tuple(_shown(source, datamarked) for source in sources),
        tuple(replace(offer, text=_printed(offer.text, offer.index in datamarked)) for offer in offers),
    )
    return RenderedPrompt(
        system=system,
        prompt=prompt,
        template=template.name,
        template_digest=template.digest,
        sources=sources,
        tokens=count_tokens(system) + count_tokens(prompt),
        offers=offers,
    )


def title_of(item: AdmittedItem) -> str:
    """The title of its source, and the headings that it stands under."""
    first = item.evidence.first
    return " — ".join(part for part in (first.source.title, first.record.heading) if part)


def prompt_source(item: AdmittedItem, intent: Intent) -> PromptSource:
    """The item before any budget, in its own words, exactly: `render_prompt` neutralises what it prints. A row, cell or
    feature speaks through its statement; its raw text follows if short. Nothing of a redacted item is told apart from
    its text."""
    record, source = item.evidence.first.record, item.evidence.first.source
    title = title_of(item)
    if item.statement is not None:  # a row says little of what it belongs to
        title += f" ({source.collection})"
    is_passage = item.evidence.computed is None and record.kind is RecordKind.PASSAGE
    raw = item.text if is_passage or item.statement is None or len(item.text) <= _ROW_TEXT_CHARS else ""
    return PromptSource(
        index=item.index,
        kind="computed" if item.evidence.computed else "passage" if is_passage else "observation",
        title=title[:_MAX_TITLE_CHARS],
        text="" if item.evidence.computed else raw,
        statement=item.statement,
        direct=is_direct(item, intent),
        entities=() if item.redacted or item.evidence.computed else record.entities,
    )


def is_direct(item: AdmittedItem, intent: Intent) -> bool:
    """True if the item is a computed or observed fact that answers one of the intent's operations: same operation and
    parameters, or the measure at the place and year that was asked for."""
    computed, measurement = item.evidence.computed, item.evidence.first.record.measurement
    if computed is not None:
        return any(_computes(computed, operation) for operation in intent.operations)
    return measurement is not None and any(_observes(measurement, operation) for operation in intent.operations)


def _computes(computed: Computation, operation: Operation) -> bool:
    if computed.operation.replace("_", "").lower() != type(operation).__name__.lower():
        return False
    if isinstance(operation, Plan):
        return resolves(operation, plan_of(computed.parameters.get("plan")))
    asked = {f.name: getattr(operation, f.name) for f in fields(operation)}
    return all(_agrees(computed.parameters, name, value) for name, value in asked.items() if value is not None)


def _agrees(parameters: Mapping[str, object], name: str, asked: object) -> bool:
    """True if a computation was made for what was asked. It may name one of several places, and says distances in
    metres."""
    match name:
        case "place_ids" if "place_id" in parameters:
            return isinstance(asked, tuple) and parameters["place_id"] in asked
        case "place_ids":
            given = parameters.get(name)
            return isinstance(asked, tuple) and isinstance(given, list | tuple) and set(given) == set(asked)
        case "unit":
            units = parameters.get("units")
            return isinstance(units, Mapping) and str(asked).replace("_", " ") in units.values()
        case "distance_km":
            return isinstance(asked, int | float) and parameters.get("distance_m") == round(asked * 1000)
        case _:
            return parameters.get(name) == asked


def _observes(measurement: Measurement, operation: Operation) -> bool:
    match operation:
        case Lookup(measure, places, year) | Compare(measure, places, year):
            years = None if year is None else {year}
        case Change(measure, places, from_year, to_year):
            years = {from_year, to_year}
        case _:
            return False
    fits = measurement.measure == measure and (not places or measurement.place.entity_id in places)
    if isinstance(operation, Lookup | Change) and operation.unit not in (None, measurement.unit):
        return False
    return fits and (
        years is None or any(measurement.time.start.year <= year <= measurement.time.end.year for year in years)
    )


def _map_lines(context: MapContext) -> tuple[tuple[str, str], ...]:
    lines = {
        "place": context.place,
        "place_id": context.place_id,
        "bbox": None if context.bbox is None else ", ".join(f"{degrees:g}" for degrees in context.bbox),
        "geometry": "drawn on the map" if context.geometry else None,
        "time": None if context.time is None else f"{context.time.start.isoformat()} to {context.time.end.isoformat()}",
        "active_layers": ", ".join(context.active_layers),
        "story": context.story_node_id,
    }
    return tuple((name, neutralise(value).replace("\n", " ")) for name, value in lines.items() if value)


def _fit(sources: Sequence[PromptSource], per_source: int, room: int) -> tuple[PromptSource, ...]:
    kept: list[PromptSource] = []
    for source in sorted(sources, key=lambda s: (not s.direct, s.index)):
        head = _shown_tokens(source.title) + _shown_tokens(source.statement or "") + 20
        limit = min(per_source, room - head)
        whole = _shown_tokens(source.text) <= limit
        text = source.text if whole else _cut(source.text, limit) if limit >= _MIN_CUT_TOKENS else ""
        if head > room or not (text or source.statement):
            continue
        room -= head + _shown_tokens(text)
        kept.append(source if text == source.text else replace(source, text=text))
    return tuple(sorted(kept, key=lambda s: s.index))


def _shown_tokens(text: str) -> int:
    """At least what the text takes once neutralised: softer signs may be longer ones."""
    return count_tokens(text.translate(_BRACKETS))


def _cut(text: str, limit: int) -> str:
    """The first sentences of `text` inside `limit` tokens, or the first words where one sentence is longer."""
    end = 0
    for span in split_sentences(text):
        if _shown_tokens(text[: span.end].rstrip()) > limit:
            break
        end = span.end
    if end == 0:
        ends = [m.start() for m in _SPACE.finditer(text)]
        fitting = bisect_right(ends, limit, key=lambda e: _shown_tokens(text[:e]))
        end = ends[fitting - 1] if fitting else 0
    return text[:end].rstrip()


def _printed(text: str, datamarked: bool) -> str:
    """A sentence as it is printed."""
    shown = neutralise(text)
    return DATAMARK.join(shown.split()) if datamarked else shown


def _shown(source: PromptSource, datamarked: set[int]) -> PromptSource:
    """The source as printed: neutralised; datamarked text carries the mark for every space."""
    shown = replace(
        source,
        title=neutralise(source.title).replace("\n", " "),
        text=neutralise(plain(source.text)),
        statement=None if source.statement is None else neutralise(source.statement),
    )
    if source.index not in datamarked:
        return shown
    return replace(
        shown,
        title=DATAMARK.join(shown.title.split()),
        text=DATAMARK.join(shown.text.split()),
        statement=None if shown.statement is None else DATAMARK.join(shown.statement.split()),
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """Everything of a prompt but its sources."""

    question: str
    map_context: tuple[tuple[str, str], ...]
    canary: str | None
    datamarked: bool
    template: PromptTemplate

    def render(self, sources: tuple[PromptSource, ...], offers: tuple[Offer, ...] = ()) -> tuple[str, str]:
        """System and user part."""
        compiled = _compiled(self.template)
        values = compiled.new_context(
            {
                "sources": sources,
                "offers": offers,
                "question": self.question,
                "map_context": self.map_context,
                "canary": self.canary,
                "datamarked": self.datamarked,
                "datamark": DATAMARK,
                "abstention": PHRASES[ABSTAIN],
            }
        )
        return "".join(compiled.blocks["system"](values)), "".join(compiled.blocks["prompt"](values))


@cache
def _compiled(template: PromptTemplate) -> JinjaTemplate:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  40 ms that a refused question need not pay

    return Environment(autoescape=False, undefined=StrictUndefined).from_string(template.text)  # noqa: S701  plain text; values pass `neutralise`
