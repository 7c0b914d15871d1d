"""Train the reader: `python -m ai.models.reader.training.train --base FOLDER --data FOLDER --out FOLDER`.

One network learns two things at once: to say of each sentence of a passage whether it answers a question, where the
words of the answer are and whether the passage answers at all; and to go on giving a text alone the vector that the
published network gives it. With teachers, networks trained so before, it learns from
the mean of what they say too. The word embeddings stay as they are; what is kept is the mean of the weights of the last
few hundred steps. Seeded; measured on documents held back and on those of writers that no network has read.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from ai.models.reader.held_back import is_held_back
from ai.models.reader.training.examples import BY_HAND, CLAIMS, UNREAD, read_examples, written_by_hand
from ai.models.reader.training.losses import FAR, Batch, batch_of, losses, of_sentences, unlikeness
from ai.models.reader.training.negatives import close_passages, other_names
from ai.models.reader.training.network import ANSWERED, BEGINS, BORNE, ENDS, LAYERS, ReaderNetwork, from_published
from ai.models.reader.training.pairs import Labelled, Pieces, batches, padded, pieces_of, window_of

BATCH_PIECES = 16_000
HIGHEST_RATE, TAUGHT_RATE, LOWER_BY_LAYER, WARM_UP, DECAY, DROPOUT = 3e-4, 1.5e-4, 0.85, 0.06, 0.01, 0.1
FROZEN = "words", "places"
"""The parts that stay as they were published."""
TEXTS_ALONE = 12
CLOSE_SHARE = 0.4
"""Of the passages close to a question that do not answer it: most are easily told."""
STEPS, TAUGHT_STEPS = 2_400, 1_750
"""Of a teacher, and of the network that learns from the teachers."""
FURTHER = (
    *("--steps", "850", "--rate", "1e-4", "--seed", "28", "--pieces", "8000"),
    *("--dropout", "0", "--taught", "0.5", "--claims", "3", "--asked", "0.5"),
)
"""How an exported network goes on: each claim thrice, beside half of the questions."""
SEED = 16
TRAINED = "trained.pt"
TAUGHT = 0.7
"""Of the loss, how much is being unlike the teachers."""
BORNE_WEIGHT = 0.5
"""Of the loss of a claim's pieces: a batch has fewer claims than questions."""
LINGERING = 0.25
"""The weights that are kept are the mean of about that share of the steps, the last ones."""


def main(given: Sequence[str] | None = None) -> None:
    """Parse the command line and train."""
    parser = argparse.ArgumentParser()
    for name in ("--base", "--data", "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rate", type=float, default=HIGHEST_RATE)
    parser.add_argument("--seed", type=int, default=SEED, help="of the order and what is left out")
    parser.add_argument("--teachers", type=Path, nargs="*", default=[], help="networks whose mean it learns from too")
    parser.add_argument("--begin", type=Path, help="the network to begin with")
    parser.add_argument("--pieces", type=int, default=BATCH_PIECES, help="of a batch")
    parser.add_argument("--dropout", type=float, default=DROPOUT)
    parser.add_argument("--taught", type=float, default=TAUGHT, help="of the loss, being unlike the teachers")
    parser.add_argument("--claims", type=int, default=2, help="how often each claim is read in a round")
    parser.add_argument("--asked", type=float, default=1.0, help="the share of the questions that are")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args(given)
    torch.manual_seed(SEED)  # one head for all seeds, so that their weights can be averaged
    torch.set_num_threads(arguments.threads)
    generator = random.Random(arguments.seed)
    tokenizer: Any = Tokenizer.from_file(str(arguments.base / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    published = from_published(arguments.base / "model.safetensors").to(arguments.device)
    examples = read_examples(arguments.data)
    held = [e for e in examples if is_held_back(e.title)]
    learnt = [e for e in examples if not is_held_back(e.title)]

    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        return alone(published, [each.ids[:126] for each in tokenizer.encode_batch(texts, add_special_tokens=False)])

    close = close_passages(learnt, vectors, generator, elsewhere=0.3)
    others = other_names(learnt, generator, share=0.6)
    learnt += generator.sample(close, round(CLOSE_SHARE * len(close))) + others
    learnt += [e for e in learnt if e.source in BY_HAND]  # twice: nearest to what is asked of the product
    told = [e for e in learnt if e.source == CLAIMS]
    asked = [e for e in learnt if e.source != CLAIMS]
    learnt = generator.sample(asked, round(arguments.asked * len(asked))) + told * arguments.claims
    claims = [e for e in held if e.source == CLAIMS]
    held = [e for e in held if not e.source.startswith("wice") and e.source != CLAIMS]
    held += close_passages(held, vectors, generator, elsewhere=0.0)
    generator.shuffle(held)
    say({source: sum(e.source == source for e in learnt) for source in sorted({e.source for e in learnt})})
    made = pieces_of(learnt, tokenizer)
    judged = {"all": held[:500]} | {name: [e for e in held if e.source == name][:500] for name in BY_HAND}
    unread = written_by_hand(UNREAD)
    judged |= {f"unread {name}": [e for e in unread if e.source == name] for name in (*BY_HAND, CLAIMS) if unread}
    judged |= {CLAIMS: claims}
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
    device = network.head.weight.device
    for start in range(0, len(order), at_once):
        group = order[start : start + at_once]
        with torch.autocast(device.type, dtype=torch.bfloat16):
            found[group] = network(*texts_alone([texts[at] for at in group], device))[0].float().cpu().numpy()
    return found


def texts_alone(texts: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """The network's inputs for texts by themselves."""
    rows = [(101, *text[:126], 102) for text in texts]
    ids = torch.from_numpy(padded(rows))
    mask = torch.from_numpy(padded([(1,) * len(row) for row in rows])).float()
    return ids.to(device), torch.zeros_like(ids).to(device), mask.to(device)


def train(
    published: ReaderNetwork,
    made: Sequence[Pieces],
    judged: Mapping[str, Sequence[Pieces]],
    tokenizer: Any,
    generator: random.Random,
    arguments: argparse.Namespace,
) -> None:
    """Train; the log says how the network does on what is held back."""
    steps, out, device = arguments.steps, arguments.out, torch.device(arguments.device)
    out.mkdir(parents=True, exist_ok=True)
    mark = tokenizer.token_to_id("?")
    network, lingering = ReaderNetwork(arguments.dropout).to(device), ReaderNetwork().to(device)
    for each in (network, lingering):
        each.load_state_dict(torch.load(arguments.begin) if arguments.begin else published.state_dict())
    torch.manual_seed(arguments.seed)
    teachers = [_opened(file).to(device) for file in arguments.teachers]
    for name, weight in network.named_parameters():
        weight.requires_grad_(not name.startswith(FROZEN))
    groups = _groups(network, arguments.rate)
    optimizer = torch.optim.AdamW(groups, lr=1.0, weight_decay=DECAY, fused=device.type == "cuda")
    judged_windows = {
        name: [window_of(each, random.Random(at), mark) for at, each in enumerate(some)]
        for name, some in judged.items()
    }
    started, sums = time.monotonic(), torch.zeros(6, device=device)
    for step, batch in enumerate(islice(_forever(made, mark, generator, arguments.pieces), steps)):
        scale = min(1.0, (step + 1) / (WARM_UP * steps)) * (1 - step / steps)
        for group in optimizer.param_groups:
            group["lr"] = group["highest"] * scale
        network.train()
        loss, told = _losses(network, teachers, batch.to(device), arguments.taught)
        if step % 2 == 0:
            told[-1] = _kept(network, published, made, generator)
            loss = loss + 6.0 * told[-1]
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        _linger(lingering, network, min(1 - 1 / (LINGERING * steps), (step + 1) / (step + 10)))
        sums += torch.stack([*(each.detach() for each in told), torch.ones((), device=device)])
        if step % 50 == 49 or step < 3:
            names = ("sentence", "answered", "spans", "borne", "kept")
            means = (sums[:5] / sums[5]).tolist()
            say({"step": step + 1, "seconds": round(time.monotonic() - started)} | {
                name: round(mean, 4) for name, mean in zip(names, means, strict=True)
            })  # fmt: skip
            sums.zero_()
        if step % 400 == 399:
            _judge(lingering, judged_windows, step + 1)
    _judge(lingering, judged_windows, steps)
    torch.save({name: weight.half().cpu() for name, weight in lingering.state_dict().items()}, out / TRAINED)


def _losses(
    network: ReaderNetwork, teachers: Sequence[ReaderNetwork], batch: Batch, taught: float
) -> tuple[Tensor, list[Tensor]]:
    """The loss on a batch, and its parts; the last, of texts alone, is not counted yet. Teachers teach of questions
    alone."""
    device = batch.ids.device
    with torch.autocast(device.type, dtype=torch.bfloat16):
        said = network(batch.ids, batch.kinds, batch.mask)[1].float()
    parts = [*losses(said, batch), torch.zeros((), device=device)]
    loss = parts[0] + parts[1] + 0.5 * parts[2]
    asked = ~batch.claims
    if teachers and asked.any():
        batch = batch.at(asked)
        with torch.no_grad(), torch.autocast(device.type, dtype=torch.bfloat16):
            theirs = [each(batch.ids, batch.kinds, batch.mask)[1].float() for each in teachers]
        loss = (1 - taught) * loss + taught * unlikeness(said[asked], torch.stack(theirs).mean(0), batch)
    return loss + BORNE_WEIGHT * parts[3], parts


def mean_of(files: Sequence[Path], out: Path) -> Path:
    """The mean of the weights of networks that began with one head, written to `out`."""
    told = [torch.load(file) for file in files]
    torch.save({name: sum(each[name].float() for each in told) / len(told) for name in told[0]}, out)
    return out


def _opened(file: Path) -> ReaderNetwork:
    made = ReaderNetwork()
    made.load_state_dict(torch.load(file))
    return made.eval()


def _judge(network: ReaderNetwork, judged: Mapping[str, Sequence[Labelled]], step: int) -> None:
    for name, some in judged.items():
        say({"step": step, "held back": name, **measured(network, some)})


@torch.no_grad()
def _linger(lingering: ReaderNetwork, network: ReaderNetwork, share: float) -> None:
    pairs = [
        (kept, new) for kept, new in zip(lingering.parameters(), network.parameters(), strict=True) if new.requires_grad
    ]
    torch._foreach_lerp_([kept for kept, _ in pairs], [new.detach() for _, new in pairs], 1 - share)


def _groups(network: ReaderNetwork, highest: float) -> list[dict[str, Any]]:
    found = []
    for name, weight in network.named_parameters():
        if not weight.requires_grad:
            continue
        layer = int(name.split(".")[1]) if name.startswith("layers.") else LAYERS if name.startswith("head") else 0
        rate = highest * (4 if layer == LAYERS else LOWER_BY_LAYER ** (LAYERS - 1 - layer))
        decay = DECAY if weight.ndim > 1 else 0.0
        found.append({"params": [weight], "highest": rate, "weight_decay": decay})
    return found


def _forever(made: Sequence[Pieces], mark: int, generator: random.Random, pieces: int) -> Iterator[Batch]:
    while True:
        for each in batches([window_of(each, generator, mark) for each in made], pieces, generator):
            yield batch_of(each)


def _kept(network: ReaderNetwork, published: ReaderNetwork, made: Sequence[Pieces], generator: random.Random) -> Tensor:
    """How far the vectors of some texts alone have moved from the published ones."""
    chosen = [generator.choice(made) for _ in range(TEXTS_ALONE)]
    texts = [each.question if at % 3 == 0 else generator.choice(each.sentences) for at, each in enumerate(chosen)]
    device = network.head.weight.device
    given = texts_alone([text[:60] for text in texts], device)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        with torch.no_grad():
            before = published(*given)[0].float()
        after = network(*given)[0].float()
    return (1 - (before * after).sum(1)).mean()


@torch.no_grad()
def measured(network: ReaderNetwork, judged: Sequence[Labelled]) -> dict[str, float]:
    """On windows held back: how often the best sentence is right where one is, and how well the best sentence, the
    whole, the spans and what is borne out tell windows that answer from others (area under the curve)."""
    network.eval()
    device = network.head.weight.device
    scores: dict[str, list[float]] = {"sentence": [], "answered": [], "spans": [], "borne": []}
    first = []
    for start in range(0, len(judged), 50):
        batch = batch_of(judged[start : start + 50]).to(device)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            said = network(batch.ids, batch.kinds, batch.mask)[1].float()
        best, at = of_sentences(said, batch).max(1)
        spans = torch.where(batch.open, said[:, :, BEGINS], FAR)[:, 1:].amax(1)
        spans = spans + torch.where(batch.open, said[:, :, ENDS], FAR)[:, 1:].amax(1)
        scores["sentence"] += best.tolist()
        scores["answered"] += said[:, 0, ANSWERED].tolist()
        scores["spans"] += (spans - said[:, 0, BEGINS] - said[:, 0, ENDS]).tolist()
        scores["borne"] += ((said[:, :, BORNE] * batch.claimed).sum(1) / batch.claimed.sum(1).clamp(min=1)).tolist()
        right = batch.answers.gather(1, at[:, None])[:, 0]
        first += right[batch.answers.sum(1) > 0].tolist()
    truth = np.array([any(each.answers) for each in judged])
    both = np.array(scores["sentence"]) + np.array(scores["answered"])
    found = {name: round(area(np.array(each), truth), 3) for name, each in scores.items()}
    bar = np.quantile(both[~truth], 0.9) if (~truth).any() else 0.0
    return {"first": round(float(np.mean(first)), 3), **found, "both": round(area(both, truth), 3),
            "at .10": round(float((both[truth] > bar).mean()), 3)}  # fmt: skip


def area(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The area under the curve: how often one that is true has the higher score."""
    ranks = np.argsort(np.argsort(scores)) + 1.0
    yes, no = int(truth.sum()), int((~truth).sum())
    return float((ranks[truth].sum() - yes * (yes + 1) / 2) / max(1, yes * no))


if __name__ == "__main__":
    main()
