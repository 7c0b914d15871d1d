// The page of an exported log (c2sp.org/tlog-tiles): the tree is built anew from the entry bundles, every tile is compared
// with it, and its root with the signed checkpoint. After verify.js and leaf.js.
const WIDTH = 256;
// What one entry says of those before it.
class Order {
  hashes = new Map(); requests = new Set(); next = new Map();

  add(leaf, hash, index) {
    const request = `${leaf.kind} ${leaf.req}`, due = this.next.get(leaf.replica) ?? 1;
    check(!this.hashes.has(leaf.id) && !this.requests.has(request), "duplicate", "log_twice", { index });
    check(leaf.rseq === due, "rseq", "log_number", { index, replica: leaf.replica, number: leaf.rseq, due });
    check(leaf.seen.size <= index, "seen", "log_seen", { index, size: leaf.seen.size });
    check(leaf.refs.every(ref => this.hashes.get(ref.id) === ref.leaf), "ref", "log_ref", { index });
    this.requests.add(request); this.next.set(leaf.replica, due + 1); this.hashes.set(leaf.id, hash);
  }
}

const named = (level, n, width) => {
  const groups = [String(n % 1000).padStart(3, "0")];
  for (let rest = Math.floor(n / 1000); rest; rest = Math.floor(rest / 1000)) groups.unshift(`x${String(rest % 1000).padStart(3, "0")}`);
  return `tile/${level}/${groups.join("/")}${width === WIDTH ? "" : `.p/${width}`}`;
};

function* tiles(level, count) {
  for (let n = 0; n * WIDTH < count; n++) yield { n, width: Math.min(WIDTH, count - n * WIDTH), path: named(level, n, Math.min(WIDTH, count - n * WIDTH)) };
}

function parseBundle(bytes, width, path) {
  const leaves = [];
  let at = 0;
  for (let each = 0; each < width; each++) {
    check(at + 2 <= bytes.length, "bundle", "log_cut", { path });
    const end = at + 2 + bytes[at] * 256 + bytes[at + 1];
    check(end <= bytes.length, "bundle", "log_cut", { path });
    leaves.push(bytes.subarray(at + 2, end));
    at = end;
  }
  check(at === bytes.length, "bundle", "log_longer", { path });
  return leaves;
}

// The next level of the tree: pairs hashed, an odd last one carried up as it is (RFC 6962, section 2.1).
async function parents(hashes) {
  const count = hashes.length / 32, next = new Uint8Array(Math.ceil(count / 2) * 32);
  const pair = async n => next.set(await sha256(joined(Uint8Array.of(1), hashes.subarray(64 * n, 64 * n + 64))), 32 * n);
  for (let start = 0; start < count >> 1; start += 1024) {
    await Promise.all(Array.from({ length: Math.min(1024, (count >> 1) - start) }, (_, n) => pair(start + n)));
  }
  if (count & 1) next.set(hashes.subarray(-32), next.length - 32);
  return next;
}

async function leafHashes(read, size, forms, say) {
  const order = new Order(), all = [];
  for (const { n, width, path } of tiles("entries", size)) {
    const bytes = await read(path);
    check(bytes, "bundle", "log_missing", { path });
    const leaves = parseBundle(bytes, width, path);
    const hashes = await Promise.all(leaves.map(leaf => sha256(joined(Uint8Array.of(0), leaf))));
    leaves.forEach((leaf, at) => order.add(parseLeaf(leaf, forms, n * WIDTH + at), hex(hashes[at]), n * WIDTH + at));
    all.push(joined(...hashes));
    if (n % 16 === 0) say(phrase("log_read", { count: n * WIDTH + width, size }));
  }
  return joined(...all);
}

async function compareTiles(read, level, hashes, count) {
  for (const { n, width, path } of tiles(level, count)) {
    const bytes = await read(path);
    check(bytes, "tile", "log_missing", { path });
    check(bytes.length === width * 32, "tile", "log_width", { path, width });
    check(same(bytes, hashes.subarray(n * WIDTH * 32, (n * WIDTH + width) * 32)), "tile", "log_tile", { path });
  }
}

async function verifyLog(read, vkeys, forms, say) {
  const keys = await parseKeys(vkeys), note = await read("checkpoint");
  check(note, "checkpoint", "log_note");
  let text;
  try { text = text8(note); } catch { throw new Failed("checkpoint", "log_utf8"); }
  const head = await verifyCheckpoint(text, keys), size = Number(head.size);
  let hashes = await leafHashes(read, size, forms, say);
  for (let height = 0, count = size; count > 0; height++, count = Math.floor(size / 2 ** height)) {
    if (height % 8 === 0) await compareTiles(read, height / 8, hashes, count);
    hashes = await parents(hashes);
  }
  check(size === 0 || same(hashes, head.root), "root", "log_root", { size });
  return head;
}

// Chromium, Firefox and Safari give the files of a chosen folder with their paths below it, its own name first.
function chosenFolder() {
  const files = new Map();
  for (const file of document.getElementById("folder").files) {
    files.set(file.webkitRelativePath.split("/").slice(1).join("/"), file);
  }
  check(files.size > 0, "folder", "log_folder");
  return async path => files.has(path) ? new Uint8Array(await files.get(path).arrayBuffer()) : null;
}

onVerify(async say => {
  const head = await verifyLog(chosenFolder(), document.getElementById("vkeys").value, leafForms(), say);
  return phrase("log_verified", { size: head.size, origin: head.origin, root: hex(head.root), unwitnessed: phrase("unwitnessed") });
});
