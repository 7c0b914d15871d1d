"""The rules' METADATA, read from the sources by `opa inspect`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policy.authoring.opa import Opa
from policy.rules import SEVERITIES, RuleInfo, names_of

KEYS = ("id", "code", "severity", "owner", "reader")


def declared_rules(opa: Opa, root: Path) -> tuple[RuleInfo, ...]:
    """Every rule below `root` whose METADATA are whole, by id. What is not whole is `lint`'s to tell. Raises
    OpaFailed."""
    found = (_rule(each) for each in rule_annotations(opa, root))
    return tuple(sorted(each for each in found if each is not None))


def rule_annotations(opa: Opa, root: Path) -> list[dict[str, Any]]:
    """Those of rules; tests are left out."""
    return [each for each in annotations_in(opa, root) if not each["file"].endswith("_test.rego")]


def annotations_in(opa: Opa, root: Path) -> list[dict[str, Any]]:
    """The annotations of scope `rule`: `{title, custom, file, row}`, `row` (from 1) being the rule's own."""
    document = json.loads(opa.run("inspect", "--annotations", "--format", "json", ".", cwd=root))
    return [
        {
            "title": each["annotations"].get("title", ""),
            "custom": each["annotations"].get("custom", {}),
            "file": each["location"]["file"],
            "row": each["location"]["row"],
        }
        for each in document.get("annotations", ())
        if each["annotations"]["scope"] == "rule"
    ]


def _rule(annotation: Mapping[str, Any]) -> RuleInfo | None:
    custom = annotation["custom"]
    if not all(isinstance(custom.get(key), str) and custom[key] for key in KEYS) or not annotation["title"]:
        return None
    if custom["severity"] not in SEVERITIES:
        return None
    texts = {key: str(custom[key]) for key in KEYS}
    return RuleInfo(
        **texts,
        title=str(annotation["title"]),
        file=str(annotation["file"]),
        row=int(annotation["row"]),
        reads=names_of(custom.get("reads", [])),
    )
