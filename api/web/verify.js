"use strict";
// What both pages share: verification with WebCrypto alone, no network, no library. Each step names itself when it fails.
// Formats: c2sp.org/signed-note, c2sp.org/tlog-checkpoint, RFC 6962.
let phrases = null;
// A phrase of the catalogue, of which the page holds what these scripts say, with its {names} filled in.
const phrase = (name, values = {}) => {
  phrases ??= JSON.parse(document.getElementById("phrases").textContent);
  return phrases[name].replace(/\{(\w+)\}/g, (whole, each) => values[each] ?? whole);
};
class Failed extends Error {
  constructor(step, name, values) { super(`${step}: ${phrase(name, values)}`); this.step = step; }
}
const NAME = "[^\\p{White_Space}+\\u0000-\\u001f]+";
const check = (condition, step, name, values) => { if (!condition) throw new Failed(step, name, values); };
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
  try { binary = atob(text); } catch { throw new Failed(step, "base64"); }
  check(btoa(binary) === text, step, "base64_form");
  return Uint8Array.from(binary, each => each.charCodeAt(0));
};
const sha256 = async bytes => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
const children = (left, right) => sha256(joined(Uint8Array.of(1), left, right));

async function parseKey(line) {
  const match = new RegExp(`^(${NAME})\\+([0-9a-f]{8})\\+([A-Za-z0-9+/=]+)$`, "u").exec(line);
  check(match, "key", "key_form");
  const [, name, id, encoded] = match, key = bytes64(encoded, "key");
  check(key.length === 33 && key[0] === 1, "key", "key_kind");
  const hash = await sha256(joined(utf8(`${name}\n`), key));
  check(hex(hash.slice(0, 4)) === id, "key", "key_id");
  return { name, id, raw: key.slice(1) };
}

async function parseKeys(text) {
  const lines = text.split("\n").map(line => line.trim()).filter(line => line);
  check(lines.length > 0, "key", "key_none");
  const keys = [];
  for (const line of lines) keys.push(await parseKey(line));
  check(keys.every(key => key.name === keys[0].name), "key", "key_two");
  return keys;
}

async function signatureHolds(key, signature, text) {
  let imported;
  try { imported = await crypto.subtle.importKey("raw", key.raw, { name: "Ed25519" }, false, ["verify"]); }
  catch { throw new Failed("browser", "browser_old"); }
  return crypto.subtle.verify({ name: "Ed25519" }, imported, signature, utf8(text));
}

function parseCheckpoint(note) {
  const gap = note.lastIndexOf("\n\n");
  check(gap >= 0 && note.endsWith("\n") && gap + 2 < note.length, "checkpoint", "note_form");
  check(note.isWellFormed() && !/[\u0000-\u0009\u000b-\u001f]/.test(note), "checkpoint", "note_control");
  const text = note.slice(0, gap + 1), lines = text.split("\n").slice(0, -1);
  const form = new RegExp(`^\u2014 (${NAME}) ([A-Za-z0-9+/=]+)$`, "u");
  const signatures = note.slice(gap + 2, -1).split("\n").map(line => {
    const match = form.exec(line);
    check(match, "checkpoint", "note_line");
    const bytes = bytes64(match[2], "checkpoint");
    check(bytes.length > 4, "checkpoint", "note_short");
    return { name: match[1], id: hex(bytes.slice(0, 4)), bytes: bytes.slice(4) };
  });
  check(signatures.length <= 100, "checkpoint", "note_many");
  check(lines.length >= 3 && lines.every(line => line) && /^(0|[1-9][0-9]{0,18})$/.test(lines[1]), "checkpoint",
    "note_lines");
  const size = BigInt(lines[1]), root = bytes64(lines[2], "checkpoint");
  check(size < 1n << 63n && root.length === 32, "checkpoint", "note_size");
  return { text, signatures, origin: lines[0], size, root };
}

// The head that one of the keys signed; no signature of any of them may fail.
async function verifyCheckpoint(note, keys) {
  const { text, signatures, origin, size, root } = parseCheckpoint(note);
  check(size !== 0n || same(root, await sha256(new Uint8Array())), "checkpoint", "note_empty");
  let signed = null;
  for (const key of keys) {
    for (const each of signatures.filter(each => each.name === key.name && each.id === key.id)) {
      check(await signatureHolds(key, each.bytes, text), "signature", "signature_other");
      signed = key;
    }
  }
  check(signed, "signature", "signature_none");
  check(origin === signed.name, "origin", "origin_other");
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
      result.textContent = phrase("failed", { detail: error instanceof Failed ? error.message : `browser: ${error}` });
      result.dataset.step = error instanceof Failed ? error.step : "browser";
      result.dataset.state = "failed";
    }
    button.disabled = false;
  });
}
