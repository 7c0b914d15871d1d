// The leaf of an entry, of every version that was ever written. After verify.js.
const HASH = "[0-9a-f]{64}", TOKEN = "[A-Za-z0-9][A-Za-z0-9._:-]{0,127}", COUNT = "0|[1-9][0-9]{0,15}";
const ID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
const REF = `\\{"id":"${ID}","leaf":"${HASH}","rel":"[a-z][a-z0-9_-]{0,31}"\\}`;
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const MAX_LEAF = 4096;

// RFC 8785 leaves a leaf of a version and kind one form: keys sorted, no space, nothing to escape.
const leafForm = (version, kind, parts) => new RegExp(
  `^\\{"id":"${ID}","kind":"${kind}","parts":\\{`
  + [...parts].sort().map(name => `"${name.replace(".", "\\.")}":"${HASH}"`).join(",")
  + `\\},"refs":\\[(?:${REF}(?:,${REF})*)?\\],"replica":"${TOKEN}","req":"${TOKEN}","rseq":[1-9][0-9]{0,15},`
  + `"seen":\\{"root":"${HASH}","size":(?:${COUNT})\\},"t":(?:${COUNT}),"tenant":"${TOKEN}","v":"${version.replace(".", "\\.")}"\\}$`);

function parseLeaf(bytes, forms, index) {
  let text, leaf;
  try { text = text8(bytes); leaf = JSON.parse(text); } catch { throw new Failed("leaf", "leaf_json", { index }); }
  const form = leaf && forms.get(`${leaf.v} ${leaf.kind}`);
  check(bytes.length <= MAX_LEAF && form && form.test(text), "leaf", "leaf_form", { index });
  check([leaf.t, leaf.rseq, leaf.seen.size].every(Number.isSafeInteger), "leaf", "leaf_number", { index });
  check(leaf.seen.size > 0 || leaf.seen.root === EMPTY, "leaf", "leaf_seen", { index });
  check(new Set(leaf.refs.map(ref => `${ref.rel} ${ref.id}`)).size === leaf.refs.length, "leaf", "leaf_ref", { index });
  return leaf;
}

// The forms of all kinds, from the names of their parts in the page.
function leafForms() {
  const parts = JSON.parse(document.getElementById("forms").textContent);
  return new Map(Object.entries(parts).map(([key, names]) => [key, leafForm(...key.split(" "), names)]));
}
