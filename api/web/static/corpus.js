// The page `/corpus`: collections, versions of sources, classes with the roles that see them, and what became of ingested files.
import { fault, get, keyForm } from "./api.js";
import { byId, h, safe } from "./dom.js";
import { twin } from "./links.js";
import { moment, table } from "./table.js";
import { say, words } from "./text.js";
import { showUpload } from "./upload.js";

const w = words.corpus;
let corpus = null;

const counts = records => Object.entries(records).map(([kind, count]) => say(w.records_of, { kind, count: count.toLocaleString("en") })).join(", ");
const short = digest => h("code", { title: digest }, `${digest.slice(0, 19)}…`);
const labels = each => [each.label, each.handling.length ? h("small", {}, ` ${each.handling.join(", ")}`) : null].filter(Boolean);

function versionRow(each) {
  const title = each.uri && safe(each.uri) ? h("a", { href: each.uri, rel: "noreferrer" }, each.title) : each.title;
  const licensed = [each.attribution, each.license === "unstated" ? words.ask.unstated : each.license].filter(Boolean).join(" · ");
  return [[title, h("br"), h("small", {}, licensed)], h("code", {}, each.document_id), each.lifecycle, each.collection, labels(each),
    counts(each.records), moment(each.stored_ms)];
}

function showVersions() {
  const wanted = byId("filter").value.trim().toLowerCase();
  const kept = corpus.versions.filter(each => [each.title, each.document_id, each.collection, each.label, each.lifecycle].join(" ").toLowerCase().includes(wanted));
  byId("versions").replaceChildren(kept.length ? table(w.versions, [w.title_column, w.version, w.lifecycle, w.collection, w.label, w.records, w.stored], kept.map(versionRow)) : h("p", {}, w.none));
  byId("status").textContent = say(w.shown, { count: kept.length, of: corpus.versions.length });
}

function classRow(each) {
  return [short(each.class_id), each.collection, labels(each), each.groups.join(", "), each.owner_group ?? "", String(each.documents), each.roles.join(", ")];
}

// The folder that all of a run's files are in, which says where the server keeps them and nothing of the files.
function folderOf(files) {
  const [first = [], ...others] = files.map(each => each.path.split("/").slice(0, -1));
  let shared = 0;
  while (shared < first.length && others.every(each => each[shared] === first[shared])) shared += 1;
  return first.slice(0, shared).map(part => `${part}/`).join("");
}

function fileRow(each, folder) {
  const failed = each.error_code ? [h("br"), h("small", {}, `${each.error_message} `, h("code", {}, each.error_code))] : [];
  return [[each.path.slice(folder.length) || each.source_id, ...failed], h("span", { "data-state": each.state }, each.state), each.stage, each.document_id ? h("code", {}, each.document_id) : "",
    String(each.passages), String(each.observations), String(each.features), moment(each.updated_ms)];
}

const runOf = ({ run_id: id, files }, at) => h("details", { open: at === 0 },
  h("summary", {}, h("code", {}, id), ` ${say(w.run_files, { count: files.length, failed: files.filter(each => each.state === "failed").length })}`),
  table(say(w.run, { id }), [w.file, w.state, w.stage, w.version, w.passages, w.observations, w.features, w.noted], files.map(each => fileRow(each, folderOf(files)))));

async function show() {
  twin("json", "/corpus.json", "corpus.json", "application/json");
  twin("csv", "/corpus.csv", "corpus.csv", "text/csv");
  byId("fault").replaceChildren(h("p", { className: "hint", role: "status" }, words.site.loading));
  byId("main").classList.remove("refused");
  try {
    corpus = await get("/api/v1/corpus");
    await showUpload(show);
    byId("fault").replaceChildren();
    showVersions();
    const { collections, classes, runs } = corpus;
    byId("collections").replaceChildren(table(w.collections, [w.collection, w.name, w.sources, w.records],
      collections.map(each => [each.name, each.title, String(each.sources), counts(each.records)])));
    byId("classes").replaceChildren(table(w.classes, [w.class_column, w.collection, w.label, w.groups, w.owner, w.documents, w.roles], classes.map(classRow)));
    byId("runs").replaceChildren(...(runs.length ? runs.map(runOf) : [h("p", {}, w.runs_none)]));
  } catch (error) {
    corpus = null;
    byId("upload").hidden = true;
    for (const id of ["collections", "versions", "classes", "runs", "status"]) byId(id).replaceChildren();
    byId("main").classList.add("refused");
    byId("fault").replaceChildren(fault(error));
    if (error.status === 401 || error.status === 403) key.open();
  }
  document.documentElement.dataset.state = "ready";
}

byId("filter").addEventListener("input", () => corpus && showVersions());
const key = keyForm(() => show());
show();
