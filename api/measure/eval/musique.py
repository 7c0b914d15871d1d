"""MuSiQue (Trivedi et al. 2022): multi-hop questions over one pool of passages. Retrieval, channel by channel."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ai.models.reader.reranker import NAME as READER
from ai.search.passage_search import Shaping
from api.http.ablation.measures import difference, figure, ndcg, recall, reciprocal_rank
from api.measure.bench.statistics import percentile
from api.measure.eval.asking import Text, TimedRanking, by_agent, by_mode, by_passages, make_home, open_patiently
from api.measure.eval.tables import Part, goal, told
from api.wiring import System
from retrieval.ranking.reranker import HeuristicReranker

CORPUS, QUESTIONS = "musique_train_corpus.json", "musique_train.json"
GOALS = {"hybrid nDCG@10": ("hybrid", "ndcg_10", 0.60), "agentic high recall@5": ("agentic high", "recall_5", 0.65)}
MOST_BELOW_BEST = 0.02
CHANNELS = ("keyword", "vector")
PLAIN = "requirement 002, 0.67/0.33"
"""The caller's weights and nothing else: not held against channels whose passages are put in order."""
_SHARE = 1000


@dataclass(frozen=True, slots=True)
class Case:
    """A question and the keys of the passages that it needs."""

    question: str
    relevant: frozenset[str]


Way = Callable[[System, str], Awaitable[TimedRanking]]
WAYS: Mapping[str, Way] = {
    "keyword": lambda s, q: by_mode(s, q, "keyword"),
    "vector": lambda s, q: by_mode(s, q, "vector"),
    "hybrid": lambda s, q: by_mode(s, q, "hybrid"),
    PLAIN: lambda s, q: by_passages(s, q, (667, 333), Shaping(10)),
    "requirement 002, 0.67/0.33, reranked": lambda s, q: by_passages(
        s, q, (667, 333), Shaping(10, HeuristicReranker(), 40)
    ),
    "requirement 002, 0.67/0.33, reranked by the reader": lambda s, q: by_passages(
        s, q, (667, 333), Shaping(10, s.services.rerankers[READER], 40)
    ),
    "agentic low": lambda s, q: by_agent(s, q, "low"),
    "agentic medium": lambda s, q: by_agent(s, q, "medium"),
    "agentic high": lambda s, q: by_agent(s, q, "high"),
}


def read(folder: Path) -> tuple[list[Text], list[Case]]:
    """The pool and the questions. Raises OSError, ValueError, KeyError for other files."""
    corpus = json.loads((folder / CORPUS).read_text("utf-8"))
    texts = [Text(f"p{n:05d}", each["title"], each["text"]) for n, each in enumerate(corpus)]
    keys = {(each.title, each.text): each.key for each in texts}
    cases = []
    for each in json.loads((folder / QUESTIONS).read_text("utf-8")):
        needed = [p for p in each["paragraphs"] if p["is_supporting"]]
        cases.append(Case(each["question"], frozenset(keys[p["title"], p["paragraph_text"]] for p in needed)))
    return texts, cases


async def run(folder: Path, work: Path) -> Part:
    """Every way of searching, over all questions, with intervals and the paired difference to the best channel."""
    texts, cases = read(folder)
    home = await make_home(work / "musique", texts)
    rows: dict[str, dict[str, list[float]]] = {}
    async with open_patiently(home) as system:
        for name, way in WAYS.items():
            rows[name] = _empty()
            for case in cases:
                _add(rows[name], await way(system, case.question), case.relevant)
    best = max(CHANNELS, key=lambda name: sum(rows[name]["ndcg_10"]))
    ways = {name: _summary(found, rows[best]) for name, found in rows.items()}
    goals = {name: goal(least, ways[way][measure]["mean"]) for name, (way, measure, least) in GOALS.items()}
    worst = min(
        way["ndcg_10_against_best_channel"]["mean"] for name, way in ways.items() if name not in {*CHANNELS, PLAIN}
    )
    goals["every profile against the best channel"] = goal(-MOST_BELOW_BEST, worst)
    return {"name": "MuSiQue", "questions": len(cases), "passages": len(texts), "ways": ways, "goals": goals}


def _empty() -> dict[str, list[float]]:
    return {"ndcg_10": [], "recall_5": [], "recall_10": [], "mrr": [], "ms": [], "search_ms": []}


def _add(row: dict[str, list[float]], found: TimedRanking, relevant: frozenset[str]) -> None:
    row["ndcg_10"].append(ndcg(found.ranked, relevant, 10))
    row["recall_5"].append(recall(found.ranked, relevant, 5))
    row["recall_10"].append(recall(found.ranked, relevant, 10))
    row["mrr"].append(reciprocal_rank(found.ranked, relevant))
    row["ms"].append(found.seconds * _SHARE)
    row["search_ms"].append(found.search_s * _SHARE)


def _summary(row: Mapping[str, list[float]], best: Mapping[str, list[float]]) -> dict[str, Any]:
    measured = {name: told(figure(values)) for name, values in row.items() if not name.endswith("ms")}
    measured["ndcg_10_against_best_channel"] = told(difference(row["ndcg_10"], best["ndcg_10"]))
    whole = {f"p{p}_ms": round(percentile(row["ms"], p), 1) for p in (50, 95)}
    if not any(row["search_ms"]):
        return measured | whole
    return measured | whole | {f"search_p{p}_ms": round(percentile(row["search_ms"], p), 1) for p in (50, 95)}
