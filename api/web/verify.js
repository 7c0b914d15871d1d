"use strict";
// What both pages share: verification with WebCrypto alone, no network, no library. Each step names itself when it fails.
// Formats: c2sp.org/signed-note, c2sp.org/tlog-checkpoint, RFC 6962.
class Failed extends Error {
  constructor(step, detail) { super(`${step}: ${detail}`); this.step = step; }
}
// The last words of every verdict of these pages.
const UNWITNESSED = "unwitnessed: no cosignature was checked, so the log's operator alone vouches for the checkpoint";
const NAME = "[^\\p{White_Space}+\\u0000-\\u001f]+";
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
  const match = new RegExp(`^(${NAME})\\+([0-9a-f]{8})\\+([A-Za-z0-9+/=]+)$`, "u").exec(line);
  check(match, "key", "not a verifier key of a signed note");
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

function parseCheckpoint(note) {
  const gap = note.lastIndexOf("\n\n");
  check(gap >= 0 && note.endsWith("\n") && gap + 2 < note.length, "checkpoint", "not a signed note");
  check(note.isWellFormed() && !/[\u0000-\u0009\u000b-\u001f]/.test(note), "checkpoint", "it holds a control character");
  const text = note.slice(0, gap + 1), lines = text.split("\n").slice(0, -1);
  const form = new RegExp(`^\u2014 (${NAME}) ([A-Za-z0-9+/=]+)$`, "u");
  const signatures = note.slice(gap + 2, -1).split("\n").map(line => {
    const match = form.exec(line);
    check(match, "checkpoint", "a line is not a signature");
    const bytes = bytes64(match[2], "checkpoint");
    check(bytes.length > 4, "checkpoint", "a signature is too short");
    return { name: match[1], id: hex(bytes.slice(0, 4)), bytes: bytes.slice(4) };
  });
  check(signatures.length <= 100, "checkpoint", "more than 100 signatures");
  check(lines.length >= 3 && lines.every(line => line) && /^(0|[1-9][0-9]{0,18})$/.test(lines[1]), "checkpoint",
    "no origin, size and root");
  const size = BigInt(lines[1]), root = bytes64(lines[2], "checkpoint");
  check(size < 1n << 63n && root.length === 32, "checkpoint", "the size exceeds 63 bits, or the root is not 32 bytes");
  return { text, signatures, origin: lines[0], size, root };
}

// The head that one of the keys signed; no signature of any of them may fail.
async function verifyCheckpoint(note, keys) {
  const { text, signatures, origin, size, root } = parseCheckpoint(note);
  check(size !== 0n || same(root, await sha256(new Uint8Array())), "checkpoint", "the root is not that of the empty tree");
  let signed = null;
  for (const key of keys) {
    for (const each of signatures.filter(each => each.name === key.name && each.id === key.id)) {
      check(await signatureHolds(key, each.bytes, text), "signature", "the checkpoint was not signed with this key");
      signed = key;
    }
  }
  check(signed, "signature", "the checkpoint has no signature of a given key");
  check(origin === signed.name, "origin", "the checkpoint is of another log than the key");
  return { origin, size, root };
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
