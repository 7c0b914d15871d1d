"""Errors to what is told of them: every class of every package is mapped, and faults say nothing of the inside."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import ai.errors
import api.errors
import ledger.errors
import policy.errors
import retrieval.errors
from ai.errors import RequestInvalid
from api.errors import FieldProblem, RequestRejected
from api.problems import CODES, MEANINGS, code_of, printable, problem_of
from ledger.errors import LedgerUnavailable, VerificationFailed
from retrieval.errors import StoreUnavailable

MODULES = (ai.errors, api.errors, ledger.errors, policy.errors, retrieval.errors)
# Where what is told differs from what the class says of itself: a channel's own codes are those of limitations, and two faults that the
# pipeline alone can cause are not the caller's.
ELSEWHERE = {
    retrieval.errors.ChannelError,
    retrieval.errors.ChannelTimeout,
    retrieval.errors.ChannelUnavailable,
    retrieval.errors.ChannelCircuitOpen,
    retrieval.errors.ChannelFault,
    ledger.errors.EntryRefused,
    ledger.errors.MalformedProv,
}


def classes(module: ModuleType) -> list[type[Exception]]:
    found = [value for _, value in inspect.getmembers(module, inspect.isclass)]
    return [kind for kind in found if kind.__module__ == module.__name__ and issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", [kind for module in MODULES for kind in classes(module)], ids=lambda k: k.__qualname__)
def test_every_error_is_mapped(kind: type[Exception]) -> None:
    assert kind in CODES
    assert CODES[kind] in MEANINGS
    if kind not in ELSEWHERE:
        assert CODES[kind] == kind.code  # type: ignore[attr-defined]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_every_error_is_drawn_in_its_tree(module: ModuleType) -> None:
    assert [kind.__name__ for kind in classes(module) if kind.__name__ not in (module.__doc__ or "")] == []


def test_statuses_are_those_of_the_contract() -> None:
    expected = {
        "BAD_REQUEST": 400, "UNAUTHORIZED": 401, "FORBIDDEN": 403, "NOT_FOUND": 404, "CONFLICT": 409, "PAYLOAD_TOO_LARGE": 413,
        "UNSUPPORTED_MEDIA_TYPE": 415, "EMBED_MODEL_MISMATCH": 422, "VALIDATION_FAILED": 422, "RATE_LIMITED": 429, "INTERNAL": 500,
        "INDEX_NOT_READY": 503, "POLICY_UNAVAILABLE": 503, "LEDGER_UNAVAILABLE": 503, "MODEL_UNAVAILABLE": 503, "TIMEOUT": 504,
    }  # fmt: skip
    assert {code: MEANINGS[code].status for code in expected} == expected


class Surprise(Exception):
    """A bug."""


@pytest.mark.parametrize("exc", [Surprise("/etc/secret"), KeyError("secret"), OSError(13, "secret", "/etc/secret")])
def test_a_bug_says_nothing_of_itself(exc: Exception) -> None:
    problem = problem_of(exc)
    assert (problem.code, problem.status) == ("INTERNAL", 500)
    assert "secret" not in problem.message
    assert "secret" not in problem.local


@pytest.mark.parametrize("exc", [LedgerUnavailable("/home/x/ledger.sqlite"), StoreUnavailable("/home/x/record.sqlite")])
def test_a_fault_names_no_file_to_a_caller_but_to_the_owner(exc: Exception) -> None:
    problem = problem_of(exc)
    assert problem.status == 503
    assert "/home/x" not in problem.message
    assert "/home/x" in problem.local


def test_a_subclass_is_what_its_nearest_known_class_is() -> None:
    class Deeper(StoreUnavailable):
        """Not mapped."""

    assert code_of(Deeper("x")) == "INDEX_NOT_READY"


def test_a_recorded_failure_is_told_as_its_cause() -> None:
    class Recorded(ai.errors.AIError):
        entry_id = "e1"

    try:
        raise Recorded("x") from LedgerUnavailable("y")
    except Recorded as exc:
        problem = problem_of(exc)
    assert (problem.code, problem.entry_id) == ("LEDGER_UNAVAILABLE", "e1")
    assert problem.body("r")["error"]["entry_id"] == "e1"  # type: ignore[index]


def test_what_does_not_verify_has_its_own_exit_code() -> None:
    assert problem_of(VerificationFailed("root", "differs")).exit == 7


def test_details_name_fields() -> None:
    body = problem_of(RequestRejected("no", [FieldProblem("a.b", "bad", "worse")])).body("r1")
    assert body == {
        "error": {
            "code": "VALIDATION_FAILED",
            "message": "no",
            "details": [{"field": "a.b", "code": "bad", "message": "worse"}],
            "request_id": "r1",
        }
    }
    assert problem_of(RequestInvalid("no", field="options.profile")).details[0].field == "options.profile"


@pytest.mark.parametrize("text", ["a\x00b", "a\x1b[31mb", "a\ud800b", "a\u202eb", "a\nb"])
def test_texts_are_fit_to_print(text: str) -> None:
    clean = printable(text)
    assert clean.isprintable()
    clean.encode()


def test_texts_are_bounded() -> None:
    assert len(printable("x" * 10_000, 100)) == 100
