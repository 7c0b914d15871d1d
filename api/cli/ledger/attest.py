"""`exhibit ledger attest`: an entry as an in-toto statement in a DSSE envelope, and whether such a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.console import emit, note
from api.cli.ledger.common import CheckedKeys, Shard, read_bytes, utc, with_ledger, write_files
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from ledger.ledger import Ledger


def attest(
    entry_id: Annotated[str | None, typer.Argument(help="Id of the entry.")] = None,
    *,
    out: Annotated[Path | None, typer.Option("--out", help="The file to write (JSON).")] = None,
    disclose: Annotated[
        list[str] | None,
        typer.Option("--disclose", help="Only this part or source, such as sources/2; may be given several times."),
    ] = None,
    pem: Annotated[
        Path | None, typer.Option("--pem", help="Also write the log's public key here, as other tools take it (PEM).")
    ] = None,
    check: Annotated[
        Path | None, typer.Option("--check", help="Instead: verify the attestation in that file, without a home.")
    ] = None,
    vkey: CheckedKeys = None,
    shard: Shard = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """An entry for tools that know in-toto and DSSE: its receipt in a statement that the log's key signs, with the
    leaf and the disclosed parts as subjects. With --check it is verified; exit code 7: it does not hold."""
    if check is not None:
        if entry_id is not None or out is not None or disclose or pem is not None or not vkey:
            raise typer.BadParameter("--check takes the file and --vkey, and nothing else")
        _check(check, vkey, as_json=as_json)
        return
    if entry_id is None or out is None or vkey:
        raise typer.BadParameter("name an entry and --out, or give --check and --vkey")
    if pem is not None and pem.absolute() == out.absolute():
        raise typer.BadParameter("--out and --pem are two files")
    data, key = with_ledger(home, lambda ledger: _made(ledger, entry_id, disclose), shard=shard)
    write_files({out: data} if pem is None else {out: data, pem: key})
    note(f"verify it: exhibit ledger attest --check {out} --vkey KEY")
    emit({"entry_id": entry_id, "file": str(out), "bytes": len(data)}, as_json=as_json, render=lambda: str(out))


async def _made(ledger: Ledger, entry_id: str, disclose: list[str] | None) -> tuple[bytes, bytes]:
    """The attestation, and the key that signed it."""
    from api.cli.ledger.proof import receipt_of
    from ledger.proofs.attestation import attest as attested
    from ledger.proofs.attestation import public_pem, size_of

    receipt = await receipt_of(ledger, entry_id, disclose=disclose)
    signer = await ledger.head.signer_at(size_of(receipt))
    return await attested(receipt, signer), public_pem(str(signer.verifier))


def _check(file: Path, vkeys: list[str], *, as_json: bool) -> None:
    from ledger.proofs.attestation import verify_attestation

    verified = verify_attestation(read_bytes(file), vkeys=vkeys)
    proved = verified.receipt
    document = {
        "verdict": "intact",
        "entry_id": proved.leaf.entry_id,
        "origin": proved.origin,
        "index": proved.index,
        "size": proved.size,
        "time": utc(proved.leaf.t_ms),
        "subjects": dict(verified.subjects),
    }
    said = [
        f"intact: the log {proved.origin} attests entry {proved.leaf.entry_id}, leaf {proved.index} of {proved.size}"
    ]
    said += [f"  sha256 {digest}  {name}" for name, digest in verified.subjects.items()]
    emit(document, as_json=as_json, render=lambda: "\n".join(said))
