"""A reliability diagram (Murphy and Winkler 1977; Niculescu-Mizil and Caruana 2005) as SVG, with no plotting library.
Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

_SIDE, _LEFT, _TOP = 360, 56, 24
_COLOURS = ("#0b6e99", "#b3541e", "#4f7942", "#6b4c9a")
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_LEAST_RADIUS, _MOST_RADIUS = 2.5, 8.0


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One bin: the mean of what is said, the share of what is so (both 0 to 1), and how many hits."""

    said: float
    held: float
    hits: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The bins of one map, from low to high."""

    name: str
    dots: tuple[ReliabilityBin, ...]


def diagram(curves: Sequence[Curve], threshold: float) -> str:
    """The curves, the diagonal of perfect calibration, and the default threshold; the area of a dot goes with its
    hits."""
    height = _TOP + _SIDE + 60 + 18 * len(curves)
    body = [*_frame(), *_threshold(threshold)]
    for number, curve in enumerate(curves):
        body += _drawn(curve, _COLOURS[number % len(_COLOURS)], _TOP + _SIDE + 58 + 18 * number)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _SIDE + 24}" height="{height}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>Reliability of relevance scores</title>'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(body)}</svg>\n'
    )


def _x(value: float) -> float:
    return round(_LEFT + value * _SIDE, 1)


def _y(value: float) -> float:
    return round(_TOP + (1 - value) * _SIDE, 1)


def _frame() -> Iterator[str]:
    for tick in _TICKS:
        yield f'<path d="M{_x(tick)} {_y(0)}V{_y(1)}M{_x(0)} {_y(tick)}H{_x(1)}" stroke="#ddd" fill="none"/>'
        yield f'<text x="{_x(tick)}" y="{_y(0) + 16}" text-anchor="middle">{tick:g}</text>'
        yield f'<text x="{_x(0) - 8}" y="{_y(tick) + 4}" text-anchor="end">{tick:g}</text>'
    yield f'<path d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}" stroke="#999" stroke-dasharray="4 4" fill="none"/>'
    yield f'<text x="{_x(0.5)}" y="{_y(0) + 36}" text-anchor="middle">relevance that the score says</text>'
    middle = _y(0.5)
    turned = f'transform="rotate(-90 14 {middle})" x="14" y="{middle}" text-anchor="middle"'
    yield f"<text {turned}>share that holds everything asked</text>"


def _threshold(at: float) -> Iterator[str]:
    yield f'<path d="M{_x(at)} {_y(0)}V{_y(1)}" stroke="#c00" stroke-dasharray="2 3" fill="none"/>'
    yield f'<text x="{_x(at) - 4}" y="{_y(1) + 12}" text-anchor="end" fill="#c00">default threshold {at:g}</text>'


def _drawn(curve: Curve, colour: str, legend_y: int) -> Iterator[str]:
    most = max((dot.hits for dot in curve.dots), default=1)
    line = "L".join(f"{_x(dot.said)} {_y(dot.held)}" for dot in curve.dots)
    if line:
        yield f'<path d="M{line}" stroke="{colour}" fill="none" stroke-width="1.5"/>'
    for dot in curve.dots:
        radius = round(max(_LEAST_RADIUS, _MOST_RADIUS * (dot.hits / most) ** 0.5), 1)
        label = f"{dot.said:.2f} said, {dot.held:.2f} held, {dot.hits} hits"
        shape = f'cx="{_x(dot.said)}" cy="{_y(dot.held)}" r="{radius}" fill="{colour}" fill-opacity="0.6"'
        yield f"<circle {shape}><title>{label}</title></circle>"
    yield f'<circle cx="{_LEFT + 6}" cy="{legend_y - 4}" r="5" fill="{colour}"/>'
    yield f'<text x="{_LEFT + 18}" y="{legend_y}">{escape(curve.name)}</text>'
