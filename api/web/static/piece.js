// The page of a piece of evidence: what `GET /api/v1/evidence/{document}` gives whoever opened it.
import { fault, get, keyForm } from "./api.js";
import { byId, facts, h, safe } from "./dom.js";
import { sliceOf } from "./evidence.js";
import { twin } from "./links.js";
import { words } from "./text.js";

const w = words.piece;

function shown(slice) {
  const entry = slice.provenance.entry_id, uri = slice.uri && safe(slice.uri);
  return [h("h2", {}, slice.title), ...sliceOf(slice), facts([
    [w.collection, slice.collection], [w.source, slice.source_id], [w.license, slice.license === "unstated" ? words.ask.unstated : slice.license], [w.attribution, slice.attribution],
    [words.evidence.original, uri ? h("a", { href: uri, rel: "noreferrer" }, uri) : null],
    [w.sensitivity, slice.sensitivity], [w.digest, h("code", {}, slice.document_sha256)], [w.entry, h("a", { href: `/audit/${entry}` }, h("code", {}, entry))],
  ])];
}

async function show() {
  twin("json", `/api/v1${location.pathname}${location.search}`, "evidence.json", "application/json");
  byId("piece").replaceChildren(h("p", { className: "hint" }, words.site.loading));
  try { byId("piece").replaceChildren(...shown(await get(`/api/v1${location.pathname}${location.search}`))); }
  catch (error) {
    byId("piece").replaceChildren(fault(error));
    key.open();
  }
  document.documentElement.dataset.state = "ready";
}

const key = keyForm(() => show());
show();
