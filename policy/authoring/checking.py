"""Everything that can be said of a bundle without deciding anything: data, compiler, format, lint, module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from policy.authoring.build import build_module
from policy.authoring.lint import LINT_RULES, lint
from policy.authoring.metadata import declared_rules
from policy.authoring.opa import Opa, OpaFailed
from policy.bundles.bundle import SHIPPED, load_bundle, read_sources
from policy.data import DATA_PATH, PolicyData
from policy.errors import BundleRejected, PolicyError

SCHEMAS = SHIPPED / "schemas"
"""The folder of the schemas that the METADATA of a package name as `schema["input.schema"]` and
`schema["config.schema"]`."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: `problems` are lines, each with its place where it has one."""

    name: str
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """True if nothing is wrong."""
        return not self.problems


def check_data(folder: Path) -> CheckResult:
    """The data fit their schema and one another. Needs no `opa`."""

    def problems() -> Iterator[str]:
        sources = read_sources(folder / "rego")
        if DATA_PATH not in sources:
            yield f"{DATA_PATH} is missing"
        else:
            PolicyData.parse(sources[DATA_PATH])

    return _checked("the data fit their schema", problems)


def check_module(folder: Path) -> CheckResult:
    """The module was built from these rules. Needs no `opa`."""

    def problems() -> Iterator[str]:
        try:
            load_bundle(folder)
        except BundleRejected as exc:
            yield f"{exc}; after a change of rules: `exhibit policy build {folder}`"

    return _checked("the module was built from these sources", problems)


def check_sources(opa: Opa, folder: Path) -> tuple[CheckResult, ...]:
    """The checks that need `opa`: compiler and schema, format, lint, and the module built again."""
    root = folder / "rego"
    compiled = _checked("opa check --strict, paths of input and data by their schemas", lambda: _compile(opa, root))
    unformatted = _checked("opa fmt", lambda: _unformatted(opa, root))
    if not compiled.passed:
        return compiled, unformatted
    return (
        compiled,
        unformatted,
        _checked("lint", lambda: map(str, lint(opa, root))),
        _checked("the module is what the sources build", lambda: _rebuilt(opa, folder)),
    )


def advice_for(checks: tuple[CheckResult, ...]) -> dict[str, str]:
    """Why, and what to write instead, for the lint rules that found something."""
    found = " ".join(problem for each in checks for problem in each.problems)
    return {rule.id: rule.advice for rule in LINT_RULES if f" {rule.id}: " in found}


def _checked(name: str, problems: Callable[[], Iterator[str]]) -> CheckResult:
    try:
        return CheckResult(name, tuple(problems()))
    except PolicyError as exc:
        return CheckResult(name, tuple(str(exc).splitlines()))


def _compile(opa: Opa, root: Path) -> Iterator[str]:
    try:
        opa.run("check", "--strict", "--schema", str(SCHEMAS), "-b", ".", "--ignore", "*_test.rego", cwd=root)
        opa.run("check", "--strict", "-b", ".", cwd=root)
    except OpaFailed as exc:
        lines = (line.removeprefix("1 error occurred: ") for line in str(exc).splitlines())
        yield from (line for line in lines if not line.endswith("errors occurred:"))


def _unformatted(opa: Opa, root: Path) -> Iterator[str]:
    listed = opa.run("fmt", "--list", ".", cwd=root, accept=(0, 2)).decode()
    yield from (f"{name}: run `opa fmt --write {name}`" for name in listed.split())


def _rebuilt(opa: Opa, folder: Path) -> Iterator[str]:
    module = folder / "wasm" / "bundle.wasm"
    if not module.is_file():
        raise BundleRejected("there is no module; run `exhibit policy build`")
    if build_module(opa, folder / "rego") != module.read_bytes():
        yield "wasm/bundle.wasm is not what the sources build; run `exhibit policy build`"
    if declared_rules(opa, folder / "rego") != load_bundle(folder).rules:
        yield "wasm/manifest.json does not match the rules; run `exhibit policy build`"
