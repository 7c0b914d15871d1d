// A receipt: C2SP tlog-proof (c2sp.org/tlog-proof, RFC 9162 section 2.1.3.2). After verify.js and leaf.js.
function parseReceipt(text) {
  const gap = text.indexOf("\n\n");
  check(gap > 0, "receipt", "there is no checkpoint");
  const lines = text.slice(0, gap).split("\n"), checkpoint = text.slice(gap + 2);
  check(lines[0] === "c2sp.org/tlog-proof@v1", "receipt", "the first line is not c2sp.org/tlog-proof@v1");
  check(lines.length >= 3 && lines[1].startsWith("extra "), "receipt", "the second line is not extra data");
  const index = /^index (0|[1-9][0-9]{0,18})$/.exec(lines[2]);
  check(index && BigInt(index[1]) < (1n << 63n) - 1n, "receipt", "the third line is not the index, or no tree is so large");
  const proof = lines.slice(3).map(line => bytes64(line, "receipt"));
  check(proof.length <= 63 && proof.every(hash => hash.length === 32), "receipt", "a proof hash is not 32 bytes");
  parseCheckpoint(checkpoint);
  const { leaf, disclosures } = parseExtra(bytes64(lines[1].slice(6), "receipt"));
  return { leaf, disclosures, index: BigInt(index[1]), proof, checkpoint };
}

// All of it is ASCII text, which RFC 8785 writes as JSON.stringify does: whoever writes the same again has read it whole.
function parseExtra(bytes) {
  let text, extra;
  try { text = text8(bytes); extra = JSON.parse(text); } catch { throw new Failed("receipt", "extra is no JSON"); }
  check(extra && extra.v === "exhibit.receipt/1" && typeof extra.leaf === "string" && Array.isArray(extra.disclosures)
    && extra.disclosures.every(each => each && [each.name, each.salt, each.bytes].every(value => typeof value === "string")),
  "receipt", "extra is not {v, leaf, disclosures}");
  const listed = extra.disclosures.map(({ bytes, name, salt }) => ({ bytes, name, salt }));
  const again = JSON.stringify({ disclosures: listed, leaf: extra.leaf, v: extra.v });
  check(again === text && /^[\u0000-\u007f]*$/.test(text), "receipt", "extra is not in canonical form");
  const disclosures = listed.map(each => ({
    name: each.name, salt: bytes64(each.salt, "receipt"), data: bytes64(each.bytes, "receipt"),
  }));
  check(listed.every((each, at) => at === 0 || listed[at - 1].name < each.name), "receipt", "disclosures do not rise by name");
  check(disclosures.every(each => each.salt.length === 32), "receipt", "a salt is not 32 bytes");
  return { leaf: bytes64(extra.leaf, "receipt"), disclosures };
}

async function verifyInclusion(leaf, index, proof, head) {
  check(index < head.size, "inclusion-proof", "the index is not in the tree");
  let fn = index, sn = head.size - 1n, hash = await sha256(joined(Uint8Array.of(0), leaf));
  for (const sibling of proof) {
    check(sn !== 0n, "inclusion-proof", "the proof is too long");
    if ((fn & 1n) === 1n || fn === sn) {
      hash = await children(sibling, hash);
      while ((fn & 1n) === 0n && fn !== 0n) { fn >>= 1n; sn >>= 1n; }
    } else {
      hash = await children(hash, sibling);
    }
    fn >>= 1n; sn >>= 1n;
  }
  check(sn === 0n, "inclusion-proof", "the proof is too short");
  check(same(hash, head.root), "inclusion-proof", "the leaf does not lead to the signed root");
}

async function commitment(part) {
  const key = await crypto.subtle.importKey("raw", part.salt, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const message = joined(utf8(`exhibit-part/1\0${part.name}\0`), part.data);
  return hex(new Uint8Array(await crypto.subtle.sign("HMAC", key, message)));
}

const SOURCE = /^sources\/([1-9][0-9]{0,5})$/;

async function verifyDisclosures(leaf, disclosures) {
  const parts = new Map();
  for (const part of disclosures.filter(each => !SOURCE.test(each.name))) {
    check(Object.hasOwn(leaf.parts, part.name), "commitment", `the leaf commits to no part ${part.name}`);
    check(await commitment(part) === leaf.parts[part.name], "commitment", `part ${part.name} is not what was committed to`);
    parts.set(part.name, part.data);
  }
  const listed = parts.has("sources") ? commitmentsIn(parts.get("sources")) : null;
  for (const part of disclosures.filter(each => SOURCE.test(each.name))) {
    check(listed, "sources", "a source is disclosed without the list of commitments");
    const number = Number(SOURCE.exec(part.name)[1]);
    check(await commitment(part) === listed[number - 1], "sources", `source ${number} is not what was committed to`);
    parts.set(part.name, part.data);
  }
  return parts;
}

function commitmentsIn(bytes) {
  const text = text8(bytes);
  check(/^\[("[0-9a-f]{64}"(,"[0-9a-f]{64}")*)?\]$/.test(text), "sources", "not a list of commitments");
  return JSON.parse(text);
}

async function verifyReceipt(text, vkeys) {
  const keys = await parseKeys(vkeys), receipt = parseReceipt(text);
  const head = await verifyCheckpoint(receipt.checkpoint, keys);
  await verifyInclusion(receipt.leaf, receipt.index, receipt.proof, head);
  const leaf = parseLeaf(receipt.leaf, leafForms(), receipt.index);
  check(leaf.seen.size <= receipt.index, "seen", `the entry claims to have seen ${leaf.seen.size} entries`);
  const parts = await verifyDisclosures(leaf, receipt.disclosures);
  return { head, leaf, parts, index: receipt.index, hash: hex(await sha256(joined(Uint8Array.of(0), receipt.leaf))) };
}
