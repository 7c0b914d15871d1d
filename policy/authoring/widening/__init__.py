"""The semantic difference between two bundles: who may newly see or do what, as named widenings.

Four readings of the difference, each blind to something that another sees: the data alone, the whole lattice under
both bundles, inputs around every constant of the rules that changed, and the expectations that the author took away.
"""

from __future__ import annotations

from policy.authoring.widening.constants import probe_constants
from policy.authoring.widening.data import data_widenings, need_a_second_person
from policy.authoring.widening.expectations import removed_expectations
from policy.authoring.widening.lattice import lattice_widenings
from policy.authoring.widening.model import Side, Widening

__all__ = ["Side", "Widening", "need_a_second_person", "widenings"]


async def widenings(before: Side, after: Side) -> tuple[Widening, ...]:
    """Everything that `after` permits and `before` did not, by name. Raises PolicyUnavailable where an engine gives no
    decision."""
    found = (
        *data_widenings(before.bundle, after.bundle),
        *removed_expectations(before.folder, after.folder),
        *await lattice_widenings(before, after),
        *await probe_constants(before, after),
    )
    return tuple({widening.name: widening for widening in found}.values())
