"""Callers by the tokens of an identity provider: JSON Web Tokens (RFC 9068, OpenID Connect), read offline with the
provider's published keys."""
