// The page of a receipt: C2SP tlog-proof (c2sp.org/tlog-proof, RFC 9162 section 2.1.3.2), and that what is shown is what is
// proved. After verify.js.
function parseReceipt(text) {
  const gap = text.indexOf("\n\n");
  check(gap > 0, "receipt", "there is no checkpoint");
  const lines = text.slice(0, gap).split("\n"), checkpoint = text.slice(gap + 2);
  check(lines[0] === "c2sp.org/tlog-proof@v1", "receipt", "the first line is not c2sp.org/tlog-proof@v1");
  check(lines.length >= 3 && lines[1].startsWith("extra "), "receipt", "the second line is not extra data");
  const index = /^index (0|[1-9][0-9]{0,18})$/.exec(lines[2]);
  check(index, "receipt", "the third line is not the index");
  const proof = lines.slice(3).map(line => bytes64(line, "receipt"));
  check(proof.length <= 63 && proof.every(hash => hash.length === 32), "receipt", "a proof hash is not 32 bytes");
  let extra;
  try { extra = JSON.parse(text8(bytes64(lines[1].slice(6), "receipt"))); }
  catch (error) { throw error instanceof Failed ? error : new Failed("receipt", "extra is no JSON"); }
  check(extra && extra.v === "exhibit.receipt/1" && Object.keys(extra).sort().join() === "disclosures,leaf,v"
    && Array.isArray(extra.disclosures), "receipt", "extra is not {v, leaf, disclosures}");
  const disclosures = extra.disclosures.map(each => ({
    name: String(each.name), salt: bytes64(String(each.salt), "receipt"), data: bytes64(String(each.bytes), "receipt"),
  }));
  const names = disclosures.map(each => each.name);
  check(names.every((name, at) => at === 0 || names[at - 1] < name), "receipt", "disclosures do not rise by name");
  check(disclosures.every(each => each.salt.length === 32), "receipt", "a salt is not 32 bytes");
  return { leaf: bytes64(String(extra.leaf), "receipt"), disclosures, index: BigInt(index[1]), proof, checkpoint };
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

async function verifyDisclosures(leaf, disclosures) {
  const parts = new Map();
  for (const part of disclosures.filter(each => !/^sources\//.test(each.name))) {
    check(Object.hasOwn(leaf.parts, part.name), "commitment", `the leaf commits to no part ${part.name}`);
    check(await commitment(part) === leaf.parts[part.name], "commitment", `part ${part.name} is not what was committed to`);
    parts.set(part.name, part.data);
  }
  for (const part of disclosures.filter(each => /^sources\//.test(each.name))) {
    const number = /^sources\/([1-9][0-9]{0,5})$/.exec(part.name);
    check(number && parts.has("sources"), "sources", "a source is disclosed without the list of commitments");
    const listed = JSON.parse(text8(parts.get("sources")))[Number(number[1]) - 1];
    check(await commitment(part) === listed, "sources", `source ${number[1]} is not what was committed to`);
    parts.set(part.name, part.data);
  }
  return parts;
}

async function verifyReceipt(text, vkeys) {
  const keys = await parseKeys(vkeys), receipt = parseReceipt(text);
  const head = await verifyCheckpoint(receipt.checkpoint, keys);
  await verifyInclusion(receipt.leaf, receipt.index, receipt.proof, head);
  let leaf;
  try { leaf = JSON.parse(text8(receipt.leaf)); } catch { throw new Failed("leaf", "not a leaf"); }
  check(leaf.v === "exhibit.ledger/1" && leaf.parts && Array.isArray(leaf.refs), "leaf", "not a leaf of exhibit.ledger/1");
  const parts = await verifyDisclosures(leaf, receipt.disclosures);
  return { head, leaf, parts, index: receipt.index, hash: hex(await sha256(joined(Uint8Array.of(0), receipt.leaf))) };
}

// What the page shows must be what the receipts prove.
function comparePage(outcome, intent) {
  const shown = id => { const element = document.getElementById(id); return element ? element.textContent : null; };
  if (intent) {
    check(outcome.leaf.refs.some(ref => ref.rel === "intent" && ref.id === intent.leaf.id && ref.leaf === intent.hash),
      "intent", "the answer does not point at this question");
    check(shown("question") === text8(intent.parts.get("question")), "page", "the question shown is not the one on record");
  }
  const body = JSON.parse(text8(outcome.parts.get("answer")));
  check(shown("answer") === body.answer, "page", "the answer shown is not the one on record");
  const quotes = (body.sentences || []).flatMap(each => each.citations.map(cited => cited.quote));
  const listed = [...document.querySelectorAll(".quote")].map(each => each.textContent);
  check(listed.length === quotes.length && listed.every((quote, at) => quote === quotes[at]),
    "page", "the quotes shown are not those on record");
  for (const element of document.querySelectorAll(".source")) {
    const part = outcome.parts.get(`sources/${element.dataset.number}`);
    check(part && JSON.parse(text8(part)).text === element.textContent, "page",
      `source ${element.dataset.number} shown is not the one on record`);
  }
  const outline = outcome.parts.get("prov");
  for (const element of document.querySelectorAll("[data-prov]")) {
    const [section, name] = element.dataset.prov.split(" ");
    const record = outline && JSON.parse(text8(outline))[section][name];
    check(record && record["prov:type"] !== undefined, "page", `${name} is not in the provenance on record`);
  }
}

async function verifyPage() {
  const data = JSON.parse(document.getElementById("receipts").textContent);
  const vkeys = document.getElementById("vkeys").value;
  const outcome = await verifyReceipt(data.outcome, vkeys);
  const intent = data.intent ? await verifyReceipt(data.intent, vkeys) : null;
  comparePage(outcome, intent);
  const witnessed = "no witness was asked by this page: the log's operator alone vouches for the checkpoint";
  return `verified: entry ${outcome.leaf.id} is leaf ${outcome.index} of ${outcome.head.size} in ${outcome.head.origin}; ${witnessed}`;
}

onVerify(verifyPage);
