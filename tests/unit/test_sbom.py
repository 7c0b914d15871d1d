"""The bill of materials lists what the locks pin, all of it, with every digest, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from deploy.sbom import ROOT, SHIPPED, LockInvalid, bill, components

DIGEST = "0" * 64


def test_every_pin_and_every_digest_of_the_lock_is_listed() -> None:
    text = SHIPPED.read_text("utf-8")
    listed = bill(SHIPPED)["components"]
    assert len(listed) == len({*re.findall(r"^[a-z0-9].*?==[^ ;\\]+", text, re.MULTILINE)})
    digests = {each["content"] for part in listed for each in part["hashes"]}
    assert digests == {*re.findall(r"sha256:([0-9a-f]{64})", text)}


def test_the_same_locks_give_the_same_bytes() -> None:
    made = [subprocess.run([sys.executable, "deploy/sbom.py"], cwd=ROOT, capture_output=True, check=True) for _ in "ab"]
    assert made[0].stdout == made[1].stdout
    assert json.loads(made[0].stdout) == bill(SHIPPED)


def test_a_pin_for_some_machines_says_for_which() -> None:
    [part] = components(f"colorama==0.4.6 ; sys_platform == 'win32' \\\n    --hash=sha256:{DIGEST}\n    # via click\n")
    assert part["properties"] == [{"name": "exhibit:marker", "value": "sys_platform == 'win32'"}]
    assert (part["purl"], part["version"]) == ("pkg:pypi/colorama@0.4.6", "0.4.6")


@pytest.mark.parametrize(
    "lock",
    [
        "one==1.0\n",
        f"one>=1.0 \\\n    --hash=sha256:{DIGEST}\n",
        "one @ https://elsewhere.example/one.whl\n",
        f"    --hash=sha256:{DIGEST}\n",
        f"one==1.0 \\\n    --hash=md5:{DIGEST}\n",
        f"one==1.0 \\\n    --hash=sha256:{DIGEST[1:]}\n",
    ],
)
def test_what_is_not_pinned_by_digest_is_no_part_of_a_bill(lock: str) -> None:
    with pytest.raises(LockInvalid):
        list(components(lock))
