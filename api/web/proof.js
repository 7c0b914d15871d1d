// A receipt: C2SP tlog-proof (c2sp.org/tlog-proof, RFC 9162 section 2.1.3.2). After verify.js and leaf.js.
function parseReceipt(text) {
  const gap = text.indexOf("\n\n");
  check(gap > 0, "receipt", "receipt_note");
  const lines = text.slice(0, gap).split("\n"), checkpoint = text.slice(gap + 2);
  check(lines[0] === "c2sp.org/tlog-proof@v1", "receipt", "receipt_version");
  check(lines.length >= 3 && lines[1].startsWith("extra "), "receipt", "receipt_extra");
  const index = /^index (0|[1-9][0-9]{0,18})$/.exec(lines[2]);
  check(index && BigInt(index[1]) < (1n << 63n) - 1n, "receipt", "receipt_index");
  const proof = lines.slice(3).map(line => bytes64(line, "receipt"));
  check(proof.length <= 63 && proof.every(hash => hash.length === 32), "receipt", "receipt_hash");
  parseCheckpoint(checkpoint);
  const { leaf, disclosures } = parseExtra(bytes64(lines[1].slice(6), "receipt"));
  return { leaf, disclosures, index: BigInt(index[1]), proof, checkpoint };
}

// All of it is ASCII text, which RFC 8785 writes as JSON.stringify does: whoever writes the same again has read it whole.
function parseExtra(bytes) {
  let text, extra;
  try { text = text8(bytes); extra = JSON.parse(text); } catch { throw new Failed("receipt", "extra_json"); }
  check(extra && extra.v === "exhibit.receipt/1" && typeof extra.leaf === "string" && Array.isArray(extra.disclosures)
    && extra.disclosures.every(each => each && [each.name, each.salt, each.bytes].every(value => typeof value === "string")),
  "receipt", "extra_names");
  const listed = extra.disclosures.map(({ bytes, name, salt }) => ({ bytes, name, salt }));
  const again = JSON.stringify({ disclosures: listed, leaf: extra.leaf, v: extra.v });
  check(again === text && /^[\u0000-\u007f]*$/.test(text), "receipt", "extra_form");
  const disclosures = listed.map(each => ({
    name: each.name, salt: bytes64(each.salt, "receipt"), data: bytes64(each.bytes, "receipt"),
  }));
  check(listed.every((each, at) => at === 0 || listed[at - 1].name < each.name), "receipt", "extra_order");
  check(disclosures.every(each => each.salt.length === 32), "receipt", "extra_salt");
  return { leaf: bytes64(extra.leaf, "receipt"), disclosures };
}

async function verifyInclusion(leaf, index, proof, head) {
  check(index < head.size, "inclusion-proof", "inclusion_index");
  let fn = index, sn = head.size - 1n, hash = await sha256(joined(Uint8Array.of(0), leaf));
  for (const sibling of proof) {
    check(sn !== 0n, "inclusion-proof", "inclusion_long");
    if ((fn & 1n) === 1n || fn === sn) {
      hash = await children(sibling, hash);
      while ((fn & 1n) === 0n && fn !== 0n) { fn >>= 1n; sn >>= 1n; }
    } else {
      hash = await children(hash, sibling);
    }
    fn >>= 1n; sn >>= 1n;
  }
  check(sn === 0n, "inclusion-proof", "inclusion_short");
  check(same(hash, head.root), "inclusion-proof", "inclusion_root");
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
    check(Object.hasOwn(leaf.parts, part.name), "commitment", "part_none", { name: part.name });
    check(await commitment(part) === leaf.parts[part.name], "commitment", "part_other", { name: part.name });
    parts.set(part.name, part.data);
  }
  const listed = parts.has("sources") ? commitmentsIn(parts.get("sources")) : null;
  for (const part of disclosures.filter(each => SOURCE.test(each.name))) {
    check(listed, "sources", "sources_none");
    const number = Number(SOURCE.exec(part.name)[1]);
    check(await commitment(part) === listed[number - 1], "sources", "sources_other", { number });
    parts.set(part.name, part.data);
  }
  return parts;
}

function commitmentsIn(bytes) {
  const text = text8(bytes);
  check(/^\[("[0-9a-f]{64}"(,"[0-9a-f]{64}")*)?\]$/.test(text), "sources", "sources_form");
  return JSON.parse(text);
}

async function verifyReceipt(text, vkeys) {
  const keys = await parseKeys(vkeys), receipt = parseReceipt(text);
  const head = await verifyCheckpoint(receipt.checkpoint, keys);
  await verifyInclusion(receipt.leaf, receipt.index, receipt.proof, head);
  const leaf = parseLeaf(receipt.leaf, leafForms(), receipt.index);
  check(leaf.seen.size <= receipt.index, "seen", "seen", { size: leaf.seen.size });
  const parts = await verifyDisclosures(leaf, receipt.disclosures);
  return { head, leaf, parts, index: receipt.index, hash: hex(await sha256(joined(Uint8Array.of(0), receipt.leaf))) };
}
