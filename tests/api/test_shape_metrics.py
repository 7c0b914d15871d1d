"""The access shapes of a request are in the metrics, with a warning above a bound, and hidden classes in none of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.wiring import key_store
from tests.withheld import OPEN, QUESTIONS, World, client_of, fill, hidden

BOUND = {"EXHIBIT_RETRIEVAL__WARNED_SHAPES": "1"}


async def counted(folder: Path, world: World, *, role: str) -> dict[str, float]:
    """The metrics of shapes after one question by somebody of that role."""
    home = await fill(folder, world, BOUND)
    token = key_store(home).create(name="reader", tenant="default", roles=(role,))[1]
    async with client_of(home) as client:
        headers = {"authorization": f"Bearer {token}"}
        for path in ("query", "stream"):
            assert (
                await client.post(f"/api/v1/ai/{path}", json={"question": QUESTIONS[0]}, headers=headers)
            ).is_success
        text = (await client.get("/metrics")).text
    found = re.findall(r"^(exhibit_scope_shapes\w*?)(?:_total)? ([0-9.]+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}


@pytest.mark.parametrize(("role", "shapes", "warned"), [("public_viewer", 1, 0), ("admin", 3, 2)])
async def test_shapes_are_those_of_the_caller(tmp_path: Path, role: str, shapes: int, warned: int) -> None:
    found = await counted(tmp_path, World((*OPEN, *hidden(label="restricted"))), role=role)
    assert (found["exhibit_scope_shapes_sum"], found["exhibit_scope_shapes_count"]) == (2 * shapes, 2)
    assert found["exhibit_scope_shapes_warned"] == warned


async def test_a_class_that_nobody_sees_is_counted_nowhere(tmp_path: Path) -> None:
    one, other = World(), World((*OPEN, *hidden(label="restricted")))
    first, second = [
        await counted(tmp_path / str(n), each, role="public_viewer") for n, each in enumerate((one, other))
    ]
    assert first == second
