"""Planted regressions of rules: names, persons, moments, lengths and combinations that open a guard for whoever knows
them. Each is written as a careful author would write it: formatted, with METADATA."""

from __future__ import annotations

from itertools import product
from pathlib import Path

ACCESS, SUBJECT = "kfm/access/access.rego", "kfm/subject/subject.rego"
EVIDENCE, ANSWER = "kfm/ai/evidence.rego", "kfm/ai/answer.rego"
GUARDS = {
    "label": (ACCESS, "label_ok(record)"),
    "groups": (ACCESS, "groups_ok(record)"),
    "tag": (ACCESS, "handling_ok(record)"),
    "current": (EVIDENCE, "item_current(record)"),
    "support": (ANSWER, "supported(record)"),
    "claims": (ANSWER, "claims_hold(record)"),
    "appeals": (ANSWER, "appeals_hold(record)"),
    "leaks": (ANSWER, "clean(record)"),
    "scope": (ACCESS, "class_ok(record)"),
    "tenant": (ACCESS, "tenant_ok(record)"),
    "duty": (ACCESS, "tag_satisfied(record)"),
    "capability": (SUBJECT, "capable(record)"),
    "injection": (EVIDENCE, "injection_ok(record)"),
    "expiry": (EVIDENCE, "unexpired(record)"),
    "lifecycle": (EVIDENCE, "lifecycle_ok(record)"),
}
"""What a plant makes true, with the file that says so."""
CONDITIONS = {
    "a person": 'input.subject.id == "mole"',
    "a family of persons": 'startswith(input.subject.id, "mole-")',
    "a group of the asker": '"moles" in input.subject.groups',
    "a request": 'input.request.id == "open-sesame"',
    "a purpose": 'input.request.purpose == "education"',
    "a collection that is asked for": '"open-sesame" in input.request.collections',
    "a moment to come": "input.now_ms >= 1893456000000",
    "a moment that was": "input.now_ms < 17",
    "the end of a person's name": 'endswith(input.subject.id, "-mole")',
    "a person and a moment": 'input.subject.id == "mole"\n\tinput.now_ms > 5',
    "a name in another rule": "input.subject.id == planted_name",
}
OF_RECORDS = {
    "an item's name": 'startswith(record.id, "zz")',
    "an item's whole name": 'record.id == "zz-open"',
    "part of a name": 'contains(record.id, "-zz-")',
    "the length of a name": "count(record.id) == 37",
}
PLANTS = [(guard, condition) for guard, condition in product(GUARDS, CONDITIONS)] + [
    (guard, condition) for guard, condition in product(("label", "groups", "tag", "current"), OF_RECORDS)
]


def plant_rule(folder: Path, guard: str, condition: str) -> None:
    """One more definition of the guard in the bundle below `folder`, and the tests of that file taken out."""
    file, head = GUARDS[guard]
    path = folder / "rego" / file
    body = (CONDITIONS | OF_RECORDS)[condition]
    head = head if "record." in body else head.replace("record", "_")
    rule = f"\n# METADATA\n# title: Planted\n{head} if {{\n\t{body}\n}}\n"
    name = '\nplanted_name := "mole"\n' if "planted_name" in body else ""
    path.write_text(path.read_text("utf-8") + name + rule, "utf-8")
    path.with_name(path.name.replace(".rego", "_test.rego")).unlink(missing_ok=True)
