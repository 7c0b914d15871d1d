"""Errors of the policy package.

PolicyError
├── PolicyUnavailable   the engine gave no decision in time, trapped, or cannot be reached
│   └── OpaUnavailable  an OPA server; its `problem` says in one word what was wrong
│       └── OpaNotResponding       it does not answer: no connection, nothing in time, or half a reply
├── BundleRejected      a bundle that must not be activated; says why
│   ├── BundleUnpublished  one that is not what the log says was published last
│   └── BundleUnsigned  one that none of the pinned keys signed as it is
├── BundleNotFound      no bundle of that digest is archived here
├── InputRejected       facts that cannot be put to an engine (too large, too deep, not JSON)
│   ├── VectorsInvalid     authoring/vectors.py, command line only: files that hold no decision vectors
│   ├── InvariantsInvalid  authoring/invariants.py, command line only: a file that holds no invariants for this bundle
│   ├── SigningKeyInvalid  signatures.py: a file of keys that bundles cannot be signed or verified with
│   └── OpaFailed          authoring/opa.py, command line only: the `opa` program found a fault in what it was given
└── OpaMissing          authoring/opa.py, command line only: there is no `opa` program of the pinned version

A *wrong* decision (undefined, unknown obligation, ids that were not asked for) is not an error: the adapter turns it
into a denial with its own code, because a refusal is an outcome and must be recorded.
"""

from __future__ import annotations


class PolicyError(Exception):
    """Root of the package's errors; `code` is what the edge reports."""

    code = "POLICY_UNAVAILABLE"


class PolicyUnavailable(PolicyError):
    """The engine gave no decision in time, trapped, or cannot be reached."""


class OpaUnavailable(PolicyUnavailable):
    """An OPA server gave no decision that could be used. `problem` is one word for logs and tests, such as TIMEOUT."""

    def __init__(self, problem: str, text: str) -> None:
        super().__init__(f"the OPA server {text}")
        self.problem = problem


class OpaNotResponding(OpaUnavailable):
    """An OPA server does not answer: no connection, nothing in time, or half a reply."""


class BundleRejected(PolicyError):
    """A bundle that must not be activated."""


class BundleUnpublished(BundleRejected):
    """A bundle that is not what the log says was published last."""


class BundleUnsigned(BundleRejected):
    """A bundle that none of the pinned keys signed as it is."""


class BundleNotFound(PolicyError):
    """No bundle of that digest is archived here."""

    code = "NOT_FOUND"


class InputRejected(PolicyError):
    """Facts that cannot be put to an engine."""

    code = "VALIDATION_FAILED"


class SigningKeyInvalid(InputRejected):
    """A file of keys that bundles cannot be signed or verified with."""
