"""An identity provider for tests: it publishes its keys over TLS, and signs what a test wants signed."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

Key = RSAKey | ECKey | OKPKey | OctKey
AUDIENCE = "exhibit"


class Issuer:
    """The provider. `published` is what it says its keys are; `reads` counts how often it was asked for them."""

    def __init__(self) -> None:
        self.key = ECKey.generate_key("P-256", {"kid": "first", "use": "sig", "alg": "ES256"})
        self.published: list[Mapping[str, Any]] = [self.key.as_dict(private=False)]
        self.reads = 0
        self.answers = True
        self.url = ""
        self.name: str | None = None

    def rotate(self, kid: str) -> None:
        """Sign with a new key from now on, and publish that alone."""
        self.key = ECKey.generate_key("P-256", {"kid": kid, "use": "sig", "alg": "ES256"})
        self.published = [self.key.as_dict(private=False)]

    def token(
        self, claims: Mapping[str, Any], *, key: Key | None = None, header: Mapping[str, Any] | None = None
    ) -> str:
        """A token of these claims; a claim that is None is left out."""
        key = key or self.key
        told = {"alg": "ES256", "typ": "at+jwt", "kid": self.key.kid} | dict(header or {})
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode({n: v for n, v in told.items() if v is not None}, kept, key, algorithms=[told["alg"]])

    def claims(self, now_s: int, **other: Any) -> dict[str, Any]:
        """The claims of a good token, with others in their place."""
        return {"iss": self.url, "aud": AUDIENCE, "sub": "ada", "iat": now_s, "exp": now_s + 600} | other


@contextmanager
def issuer(folder: Path) -> Iterator[tuple[Issuer, Path]]:
    """A running provider on this machine, and the certificate that it is trusted by."""
    certificate, key = _certificate(folder)
    provider = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told: Mapping[str, Any] | None = None
            if self.path == "/.well-known/openid-configuration":
                told = {"issuer": provider.name or provider.url, "jwks_uri": f"{provider.url}/keys"}
            elif self.path == "/keys":
                provider.reads += 1
                told = {"keys": list(provider.published)}
            body = json.dumps(told).encode()
            self.send_response(200 if told and provider.answers else 503)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    provider.url = f"https://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield provider, certificate
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "issuer.pem", folder / "issuer.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths
