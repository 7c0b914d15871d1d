"use strict";
// What both pages share: verification with WebCrypto alone, no network, no library. Each step names itself when it fails.
// Formats: c2sp.org/signed-note, c2sp.org/tlog-checkpoint, RFC 6962.
class Failed extends Error {
  constructor(step, detail) { super(`${step}: ${detail}`); this.step = step; }
}
const check = (condition, step, detail) => { if (!condition) throw new Failed(step, detail); };
const utf8 = text => new TextEncoder().encode(text);
const text8 = bytes => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
const hex = bytes => [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("");
const same = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);
const joined = (...arrays) => {
  const whole = new Uint8Array(arrays.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const each of arrays) { whole.set(each, at); at += each.length; }
  return whole;
};
const bytes64 = (text, step) => {
  let binary;
  try { binary = atob(text); } catch { throw new Failed(step, "not base64"); }
  check(btoa(binary) === text, step, "not canonical base64");
  return Uint8Array.from(binary, each => each.charCodeAt(0));
};
const sha256 = async bytes => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
const children = (left, right) => sha256(joined(Uint8Array.of(1), left, right));

async function parseKey(line) {
  const match = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(line);
  check(match, "key", "no verifier key of a signed note");
  const [, name, id, encoded] = match, key = bytes64(encoded, "key");
  check(key.length === 33 && key[0] === 1, "key", "not an Ed25519 key");
  const hash = await sha256(joined(utf8(`${name}\n`), key));
  check(hex(hash.slice(0, 4)) === id, "key", "the key's id is not that of its bytes");
  return { name, id, raw: key.slice(1) };
}

async function parseKeys(text) {
  const lines = text.split("\n").map(line => line.trim()).filter(line => line);
  check(lines.length > 0, "key", "no verifier key was given");
  const keys = [];
  for (const line of lines) keys.push(await parseKey(line));
  check(keys.every(key => key.name === keys[0].name), "key", "the keys are of two logs");
  return keys;
}

async function signatureHolds(key, signature, text) {
  let imported;
  try { imported = await crypto.subtle.importKey("raw", key.raw, { name: "Ed25519" }, false, ["verify"]); }
  catch { throw new Failed("browser", "its cryptography has no Ed25519; take a newer one"); }
  return crypto.subtle.verify({ name: "Ed25519" }, imported, signature, utf8(text));
}

async function verifyCheckpoint(note, keys) {
  const gap = note.lastIndexOf("\n\n");
  check(gap > 0 && note.endsWith("\n"), "checkpoint", "not a signed note");
  const text = note.slice(0, gap + 1), lines = text.split("\n");
  const signatures = note.slice(gap + 2, -1).split("\n").map(line => {
    const match = /^\u2014 (\S+) ([A-Za-z0-9+/=]+)$/.exec(line);
    check(match, "checkpoint", "a line is no signature");
    return { name: match[1], bytes: bytes64(match[2], "checkpoint") };
  });
  check(signatures.length <= 100, "checkpoint", "more than 100 signatures");
  let signed = null;
  for (const key of keys) {
    for (const each of signatures) {
      if (signed || each.name !== key.name || hex(each.bytes.slice(0, 4)) !== key.id) continue;
      const holds = await signatureHolds(key, each.bytes.slice(4), text);
      check(holds, "signature", "the checkpoint was not signed with this key");
      signed = key;
    }
  }
  check(signed, "signature", "the checkpoint bears no signature of a given key");
  check(lines.length >= 4 && /^(0|[1-9][0-9]{0,18})$/.test(lines[1]), "checkpoint", "no origin, size and root");
  const size = BigInt(lines[1]), root = bytes64(lines[2], "checkpoint");
  check(size < 1n << 63n && root.length === 32, "checkpoint", "the size exceeds 63 bits, or the root is not 32 bytes");
  check(size !== 0n || same(root, await sha256(new Uint8Array())), "checkpoint", "the root is not that of the empty tree");
  check(lines[0] === signed.name, "origin", "the checkpoint is of another log than the key");
  return { origin: lines[0], size, root };
}

// The button runs `work`, which gives the words of success or throws; the result tells the step by its data-step.
function onVerify(work) {
  document.getElementById("verify").addEventListener("click", async () => {
    const button = document.getElementById("verify"), result = document.getElementById("result");
    button.disabled = true;
    result.dataset.state = "working";
    delete result.dataset.step;
    try {
      result.textContent = await work(words => { result.textContent = words; });
      result.dataset.state = "verified";
    } catch (error) {
      result.textContent = `FAILED at ${error instanceof Failed ? error.message : `browser: ${error}`}`;
      result.dataset.step = error instanceof Failed ? error.step : "browser";
      result.dataset.state = "failed";
    }
    button.disabled = false;
  });
}
