"""The losses of a network on a batch of windows: of the sentences, of the whole, of the words that answer, and of what
is borne out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ai.models.reader.training.network import ANSWERED, ANSWERS, BEGINS, BORNE, ENDS
from ai.models.reader.training.pairs import Labelled, padded

FAR = -1e4


@dataclass(frozen=True, slots=True)
class Batch:
    """Windows and their labels as tensors. `ids`, `kinds`, `mask`: (windows, pieces). `within`: (windows, sentences,
    pieces), each sentence's share of a piece, which sums to 1; `answers`, `there`: (windows, sentences), whether it
    answers, and whether it is one. `open`: (windows, pieces), where an answer can begin or end, the first piece for
    none; `spans`: (windows, 2, pieces), where it does; `borne`, `claimed`: (windows, pieces); `claims`:
    (windows), whether it is of a claim."""

    ids: Tensor
    kinds: Tensor
    mask: Tensor
    within: Tensor
    answers: Tensor
    there: Tensor
    answered: Tensor
    open: Tensor
    spans: Tensor
    borne: Tensor
    claimed: Tensor
    claims: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same on a device."""
        return Batch(*(getattr(self, name).to(device, non_blocking=True) for name in self.__slots__))

    def at(self, rows: Tensor) -> Batch:
        """Some of the windows, by a mask."""
        return Batch(*(getattr(self, name)[rows] for name in self.__slots__))


def batch_of(made: Sequence[Labelled]) -> Batch:
    """The windows side by side."""
    ids = padded([w.window.ids for w in made])
    rows, length = ids.shape
    most = max(len(w.window.sentences) for w in made)
    within = np.zeros((rows, most, length), np.float32)
    answers, there = np.zeros((rows, most), np.float32), np.zeros((rows, most), np.float32)
    can, spans = np.zeros((rows, length), bool), np.zeros((rows, 2, length), bool)
    borne, claimed = np.zeros((rows, length), np.float32), np.zeros((rows, length), np.float32)
    for row, each in enumerate(made):
        for at, (begin, end) in enumerate(each.window.sentences):
            within[row, at, begin:end] = 1 / (end - begin)
        answers[row, : len(each.answers)], there[row, : len(each.answers)] = each.answers, 1
        can[row, 0] = can[row, each.window.sentences[0][0] : len(each.window.ids) - 1] = True
        if not each.spans and not any(each.answers):
            spans[row, :, 0] = True
        for place in each.spans:
            spans[row, 0, place[0]] = spans[row, 1, place[1]] = True
        if each.borne:
            begin, end = each.window.question
            borne[row, begin:end], claimed[row, begin:end] = each.borne[: end - begin], 1
    mask = padded([(1,) * len(w.window.ids) for w in made]).astype(np.float32)
    answered = np.array([w.answered for w in made], np.float32)
    kinds = padded([w.window.kinds for w in made])
    claims = np.array([w.claim for w in made])
    every = (ids, kinds, mask, within, answers, there, answered, can, spans, borne, claimed, claims)
    return Batch(*map(torch.from_numpy, every))


def of_sentences(said: Tensor, batch: Batch) -> Tensor:
    """(windows, sentences): the mean of its pieces' logits; `FAR` where there is none."""
    logits = torch.bmm(batch.within, said[:, :, ANSWERS, None])[:, :, 0]
    return torch.where(batch.there > 0, logits, FAR)


def losses(said: Tensor, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of the sentences, the whole, the spans, and what is borne out: each the mean of its windows. `said` is what the
    network says, (windows, pieces, 5)."""
    logits = of_sentences(said, batch)
    each = F.binary_cross_entropy_with_logits(logits, batch.answers, weight=batch.there, reduction="none")
    by_itself = each.sum(1) / batch.there.sum(1)
    none = said[:, :1, ANSWERS]
    beside = torch.log_softmax(torch.cat([logits, none], 1), 1)
    true = torch.cat([batch.answers > 0, (batch.answers.sum(1) == 0)[:, None]], 1)
    sentences = by_itself - 0.5 * torch.logsumexp(torch.where(true, beside, FAR), 1)
    answered = F.binary_cross_entropy_with_logits(said[:, 0, ANSWERED], batch.answered)
    places = torch.where(batch.open[:, None], said[:, :, [BEGINS, ENDS]].transpose(1, 2), FAR)
    told = -torch.logsumexp(torch.where(batch.spans, torch.log_softmax(places, 2), FAR), 2)
    known = batch.spans.any(2).float()
    spans = (told * known).sum() / known.sum().clamp(min=1)
    parts = F.binary_cross_entropy_with_logits(said[:, :, BORNE], batch.borne, weight=batch.claimed, reduction="none")
    borne = (parts.sum(1) / batch.claimed.sum(1).clamp(min=1)).sum() / batch.claims.sum().clamp(min=1)
    return sentences.mean(), answered, spans, borne


def unlikeness(said: Tensor, taught: Tensor, batch: Batch) -> Tensor:
    """How far what the network says is from what its teachers say, both (windows, pieces, 5): of the sentences, the
    whole and the spans, weighed as their losses are."""
    mine, theirs = of_sentences(said, batch), of_sentences(taught, batch)
    each = F.binary_cross_entropy_with_logits(mine, torch.sigmoid(theirs), weight=batch.there, reduction="none")
    by_itself = (each.sum(1) / batch.there.sum(1)).mean()
    beside = _apart(torch.cat([mine, said[:, :1, ANSWERS]], 1), torch.cat([theirs, taught[:, :1, ANSWERS]], 1))
    answered = F.binary_cross_entropy_with_logits(said[:, 0, ANSWERED], torch.sigmoid(taught[:, 0, ANSWERED]))
    sides = [torch.where(batch.open[:, None], x[:, :, [BEGINS, ENDS]].transpose(1, 2), FAR) for x in (said, taught)]
    return by_itself + 0.5 * beside + answered + 0.5 * _apart(*sides)


def _apart(mine: Tensor, theirs: Tensor) -> Tensor:
    return -(torch.softmax(theirs, -1) * torch.log_softmax(mine, -1)).sum(-1).mean()
