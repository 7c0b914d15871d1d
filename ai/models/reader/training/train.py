"""Train the reader: `python -m ai.models.reader.training.train --base FOLDER --data FOLDER --out FOLDER`.

One network learns two things at once: to say of each sentence of a passage whether it answers a question, where the
words of the answer are and whether the passage answers at all; and to go on giving a text alone the vector that the
published network gives it. The word embeddings and the lowest layer stay as
they are. Seeded; a checkpoint every few hundred steps; measured
on documents held back.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from ai.models.reader.held_back import is_held_back
from ai.models.reader.training.examples import BY_HAND, read_examples
from ai.models.reader.training.negatives import close_passages, other_names
from ai.models.reader.training.network import (
    ANSWERED,
    ANSWERS,
    BEGINS,
    BORNE,
    ENDS,
    LAYERS,
    ReaderNetwork,
    from_published,
)
from ai.models.reader.training.pairs import Labelled, Pieces, batches, padded, pieces_of, window_of

BATCH_PIECES = 5_000
HIGHEST_RATE, LOWER_BY_LAYER, WARM_UP, DECAY = 3e-4, 0.85, 0.06, 0.01
TEXTS_ALONE = 12
CLOSE_SHARE = 0.4
"""Of the passages close to a question that do not answer it: most are easily told."""
STEPS = 2_000
FAR = -1e4


def main(given: Sequence[str] | None = None) -> None:
    """Parse the command line and train."""
    parser = argparse.ArgumentParser()
    for name in ("--base", "--data", "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument(
        "--steps", type=int, default=STEPS, help="steps of the schedule by which the rate falls to nothing"
    )
    parser.add_argument("--stop", type=int, help="the last step that is taken")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args(given)
    torch.manual_seed(16)
    torch.set_num_threads(arguments.threads)
    generator = random.Random(16)
    tokenizer: Any = Tokenizer.from_file(str(arguments.base / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    published = from_published(arguments.base / "model.safetensors")
    examples = read_examples(arguments.data)
    held = [e for e in examples if is_held_back(e.title)]
    learnt = [e for e in examples if not is_held_back(e.title)]

    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        return alone(published, [each.ids[:126] for each in tokenizer.encode_batch(texts, add_special_tokens=False)])

    close = close_passages(learnt, vectors, generator, elsewhere=0.3)
    others = other_names(learnt, generator, share=0.6)
    learnt += generator.sample(close, round(CLOSE_SHARE * len(close))) + others
    learnt += [e for e in learnt if e.source in BY_HAND]  # twice: nearest to what is asked of the product
    held = [e for e in held if not e.source.startswith("wice")]
    held += close_passages(held, vectors, generator, elsewhere=0.0)
    generator.shuffle(held)
    say({source: sum(e.source == source for e in learnt) for source in sorted({e.source for e in learnt})})
    made = pieces_of(learnt, tokenizer)
    judged = {"all": held[:500]} | {name: [e for e in held if e.source == name][:500] for name in BY_HAND}
    judged_pieces = {name: pieces_of(some, tokenizer) for name, some in judged.items()}
    train(published, made, judged_pieces, tokenizer, generator, arguments)


def say(told: object) -> None:
    """A line of the log."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


@torch.no_grad()
def alone(network: ReaderNetwork, texts: Sequence[Sequence[int]], at_once: int = 64) -> NDArray[np.float32]:
    """The vectors of texts without any marks, each by itself."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    found = np.zeros((len(texts), 384), np.float32)
    for start in range(0, len(order), at_once):
        group = order[start : start + at_once]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found[group] = network(*texts_alone([texts[at] for at in group]))[0].float().numpy()
    return found


def texts_alone(texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor, Tensor]:
    """The network's inputs for texts by themselves."""
    rows = [(101, *text[:126], 102) for text in texts]
    ids = torch.from_numpy(padded(rows))
    mask = torch.from_numpy(padded([(1,) * len(row) for row in rows])).float()
    return ids, torch.zeros_like(ids), mask


def windows(made: Sequence[Labelled]) -> tuple[Tensor, Tensor, Tensor]:
    """The network's inputs for questions with passages."""
    ids = torch.from_numpy(padded([w.window.ids for w in made]))
    kinds = torch.from_numpy(padded([w.window.kinds for w in made]))
    mask = torch.from_numpy(padded([(1,) * len(w.window.ids) for w in made])).float()
    return ids, kinds, mask


def train(
    published: ReaderNetwork,
    made: Sequence[Pieces],
    judged: Mapping[str, Sequence[Pieces]],
    tokenizer: Any,
    generator: random.Random,
    arguments: argparse.Namespace,
) -> None:
    """Train; the log says how the network does on what is held back."""
    steps, out = arguments.steps, arguments.out
    stop = arguments.stop or steps
    out.mkdir(parents=True, exist_ok=True)
    mark = tokenizer.token_to_id("?")
    network = ReaderNetwork()
    network.load_state_dict(published.state_dict())
    network.words.weight.requires_grad_(False)
    network.places.weight.requires_grad_(False)
    network.layers[0].requires_grad_(False)
    optimizer = torch.optim.AdamW(_groups(network), lr=1.0, weight_decay=DECAY)
    judged_windows = {
        name: [window_of(each, random.Random(at), mark) for at, each in enumerate(some)]
        for name, some in judged.items()
    }
    started, sums = time.monotonic(), np.zeros(6)
    for step, batch in enumerate(_forever(made, mark, generator)):
        if step == stop:
            break
        scale = min(1.0, (step + 1) / (WARM_UP * steps)) * max(0.0, 1 - step / steps)
        for group in optimizer.param_groups:
            group["lr"] = group["highest"] * scale
        network.train()
        kept = _kept(network, published, made, generator) if step % 2 == 0 else torch.zeros(())
        losses = [*_losses(network, batch), kept]
        loss = losses[0] + losses[1] + 0.5 * losses[2] + 0.5 * losses[3] + 6.0 * losses[4]
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        sums += [*(float(each.detach()) for each in losses), 1]
        if step % 50 == 49 or step < 3:
            names = ("sentence", "answered", "spans", "borne", "kept")
            told = {name: round(total / sums[5], 4) for name, total in zip(names, sums[:5], strict=True)}
            say({"step": step + 1, "seconds": round(time.monotonic() - started), **told})
            sums[:] = 0
        if step % 250 == 249 or step + 1 == stop:
            for name, some in judged_windows.items():
                say({"step": step + 1, "held back": name, **measured(network, some)})
            torch.save(network.state_dict(), out / f"step-{step + 1}.pt")


def _groups(network: ReaderNetwork) -> list[dict[str, Any]]:
    found = []
    for name, weight in network.named_parameters():
        if not weight.requires_grad:
            continue
        layer = int(name.split(".")[1]) if name.startswith("layers.") else LAYERS if name.startswith("head") else 0
        rate = HIGHEST_RATE * (4 if layer == LAYERS else LOWER_BY_LAYER ** (LAYERS - 1 - layer))
        decay = DECAY if weight.ndim > 1 else 0.0
        found.append({"params": [weight], "highest": rate, "weight_decay": decay})
    return found


def _forever(made: Sequence[Pieces], mark: int, generator: random.Random) -> Iterator[list[Labelled]]:
    while True:
        yield from batches([window_of(each, generator, mark) for each in made], BATCH_PIECES, generator)


def _losses(network: ReaderNetwork, batch: Sequence[Labelled]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of the sentences, the whole, the spans, and what is borne out."""
    ids, kinds, mask = windows(batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        said = network(ids, kinds, mask)[1].float()
    sentences, spans, borne = [], [], []
    answered = F.binary_cross_entropy_with_logits(said[:, 0, ANSWERED], torch.tensor([w.answered for w in batch]))
    for row, each in zip(said, batch, strict=True):
        logits = torch.stack([row[a:b, ANSWERS].mean() for a, b in each.window.sentences])
        right = torch.tensor(each.answers, dtype=torch.float)
        by_itself = F.binary_cross_entropy_with_logits(logits, right)
        beside = torch.log_softmax(torch.cat([logits, row[:1, ANSWERS]]), 0)
        true = torch.cat([right, (right.sum() == 0).float()[None]])
        sentences.append(by_itself + 0.5 * -torch.logsumexp(torch.where(true > 0, beside, FAR), 0))
        if each.spans or not any(each.answers):
            first = each.window.sentences[0][0]
            told = torch.cat([row[:1, [BEGINS, ENDS]], row[first : len(each.window.ids) - 1, [BEGINS, ENDS]]])
            places = each.spans or ((first - 1, first - 1),)
            for side in range(2):
                at = torch.tensor([place[side] - first + 1 for place in places])
                spans.append(-torch.logsumexp(torch.log_softmax(told[:, side], 0)[at], 0))
        if each.borne:
            a, b = each.window.question
            target = torch.tensor(each.borne[: b - a], dtype=torch.float)
            borne.append(F.binary_cross_entropy_with_logits(row[a:b, BORNE], target))
    none = torch.zeros(())
    return (
        torch.stack(sentences).mean(),
        answered,
        torch.stack(spans).mean() if spans else none,
        torch.stack(borne).sum() / len(batch) if borne else none,
    )


def _kept(network: ReaderNetwork, published: ReaderNetwork, made: Sequence[Pieces], generator: random.Random) -> Tensor:
    """How far the vectors of some texts alone have moved from the published ones."""
    chosen = [generator.choice(made) for _ in range(TEXTS_ALONE)]
    texts = [each.question if at % 3 == 0 else generator.choice(each.sentences) for at, each in enumerate(chosen)]
    given = texts_alone([text[:60] for text in texts])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.no_grad():
            before = published(*given)[0].float()
        after = network(*given)[0].float()
    return (1 - (before * after).sum(1)).mean()


@torch.no_grad()
def measured(network: ReaderNetwork, judged: Sequence[Labelled]) -> dict[str, float]:
    """On windows held back: how often the best sentence is right where one is, and how well the best sentence, the
    whole and the spans tell windows that answer from others (area under the curve)."""
    network.eval()
    scores: dict[str, list[float]] = {"sentence": [], "answered": [], "spans": []}
    first = []
    for start in range(0, len(judged), 25):
        batch = judged[start : start + 25]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            said = network(*windows(batch))[1].float().numpy()
        for row, each in zip(said, batch, strict=True):
            logits = [float(row[a:b, ANSWERS].mean()) for a, b in each.window.sentences]
            begins, stop = each.window.sentences[0][0], len(each.window.ids) - 1
            best = max(row[at, BEGINS] + row[at : min(stop, at + 20), ENDS].max() for at in range(begins, stop))
            scores["sentence"].append(max(logits))
            scores["answered"].append(float(row[0, ANSWERED]))
            scores["spans"].append(float(best - row[0, BEGINS] - row[0, ENDS]))
            if any(each.answers):
                first.append(each.answers[int(np.argmax(logits))])
    truth = np.array([any(each.answers) for each in judged])
    return {"first": round(float(np.mean(first)), 3)} | {
        name: round(area(np.array(found), truth), 3) for name, found in scores.items()
    }


def area(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The area under the curve: how often one that is true has the higher score."""
    ranks = np.argsort(np.argsort(scores)) + 1.0
    yes, no = int(truth.sum()), int((~truth).sum())
    return float((ranks[truth].sum() - yes * (yes + 1) / 2) / max(1, yes * no))


if __name__ == "__main__":
    main()
