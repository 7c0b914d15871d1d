// The promise that came with an answer: before it was released, the log's key signed which leaf stands for it
// (docs/auditing.md). After verify.js.
/* global bytes64, check, hex, joined, sha256, signatureHolds, utf8 */

const VERSION = "exhibit.promise/1", BESIDE = ["promise", "timings_ms"];

// JSON in its one form (RFC 8785): names in the order of their UTF-16 units, the rest as JSON.stringify writes it.
const canonical = value => (Array.isArray(value) ? `[${value.map(canonical).join(",")}]`
  : value && typeof value === "object" ? `{${Object.keys(value).sort().map(name => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`
    : JSON.stringify(value));

// The digest of what is on record of a body that was released.
const digestOf = async body => {
  const recorded = Object.fromEntries(Object.entries(body).filter(([name]) => !BESIDE.includes(name)));
  return `sha256:${hex(await sha256(utf8(canonical(recorded))))}`;
};

const textOf = of => [of.v, of.key.slice(0, of.key.lastIndexOf("+")), of.entry_id, of.leaf_hash, of.answer_digest, of.replica, of.rseq, of.time, of.merge_delay_s]
  .map(line => `${line}\n`).join("");

// When the log has to have kept it, in UTC milliseconds.
export const dueOf = promise => Date.parse(promise.time) + 1000 * promise.merge_delay_s;

// Fails unless one of the keys signed the promise; with a body, unless it was made for this one.
export async function verifyPromise(promise, keys, body = null) {
  check(promise?.v === VERSION && typeof promise.key === "string" && typeof promise.signature === "string", "promise", "promise_form");
  const key = keys.find(each => `${each.name}+${each.id}` === promise.key);
  check(key, "promise", "promise_key");
  check(await signatureHolds(key, bytes64(promise.signature, "promise"), textOf(promise)), "promise", "promise_signature");
  if (body) check(await digestOf(body) === promise.answer_digest, "promise", "promise_answer");
}

export const isPromised = async (promise, leaf) => hex(await sha256(joined(Uint8Array.of(0), leaf))) === promise.leaf_hash;
