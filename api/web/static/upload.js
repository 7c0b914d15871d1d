// The form of `/corpus` that sends files: small ones together, large ones in parts (tus 1.0); then the fate of each file as it is told.
import { ApiError, fault, get, post, reply } from "./api.js";
import { byId, h } from "./dom.js";
import { eventsOf } from "./stream.js";
import { table } from "./table.js";
import { say, words } from "./text.js";

const w = words.upload, JOBS = "/api/v1/jobs", PAUSE_MS = 1000, TRIES = 5;
const base64 = text => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
let terms = null;

// Shows the form to whoever may send; labels are those that policy lets the caller use.
export async function showUpload(ended) {
  terms = await get("/api/v1/documents/terms").catch(() => null);
  byId("upload").hidden = !terms;
  if (!terms) return;
  const chosen = byId("upload-label").value || terms.default_label;
  byId("upload-label").replaceChildren(h("option", { value: "" }, w.label_choose), ...terms.labels.map(each => h("option", { value: each, selected: each === chosen }, each)));
  byId("upload-collection").placeholder = terms.collection;
  byId("upload-files").accept = terms.kinds.join(",");
  byId("upload-hint").textContent = say(w.hint, { kinds: terms.kinds.join(" "), size: (terms.file_bytes / 1048576).toLocaleString("en", { maximumFractionDigits: 1 }) });
  byId("upload-form").onsubmit = event => { event.preventDefault(); send(ended); };
}

async function send(ended) {
  const button = byId("upload-send"), files = [...byId("upload-files").files], access = { label: byId("upload-label").value, collection: byId("upload-collection").value.trim() };
  button.disabled = true;
  byId("upload-jobs").replaceChildren();
  try {
    for (const job of await handedIn(files, access)) await follow(job);
    ended();
  } catch (error) { byId("upload-state").replaceChildren(fault(error)); }
  button.disabled = false;
}

// The jobs that the files became.
async function handedIn(files, access) {
  const room = terms.request_bytes - 65536, small = files.filter(each => each.size < room), jobs = [];
  let form = new FormData(), size = 0, count = 0;
  const flush = async () => { if (count) jobs.push(await (await reply("/api/v1/documents", { method: "POST", body: form })).json()); };
  const begin = () => { form = new FormData(); size = count = 0; for (const [name, value] of Object.entries(access)) if (value) form.append(name, value); };
  begin();
  for (const each of small) {
    if (size + each.size > room || count >= terms.request_files) { await flush(); begin(); }
    form.append("file", each, each.name);
    size += each.size;
    count += 1;
    tell(say(w.sending, { name: each.name }));
  }
  await flush();
  for (const each of files.filter(file => !small.includes(file))) jobs.push(await inParts(each, access, room));
  return jobs;
}

async function inParts(file, access, room) {
  const metadata = Object.entries({ filename: file.name, ...access }).filter(([, value]) => value).map(([name, value]) => `${name} ${base64(value)}`).join(",");
  const made = await reply("/api/v1/uploads", { method: "POST", headers: { "tus-resumable": "1.0.0", "upload-length": String(file.size), "upload-metadata": metadata } });
  const place = made.headers.get("location");
  let offset = 0;
  for (let failed = 0; offset < file.size;) {
    tell(say(w.sent, { name: file.name, percent: Math.floor(offset * 100 / file.size) }));
    try {
      const part = await reply(place, { method: "PATCH", body: file.slice(offset, offset + room), headers: { "tus-resumable": "1.0.0", "upload-offset": String(offset), "content-type": "application/offset+octet-stream" } });
      offset = Number(part.headers.get("upload-offset"));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status > 0 || (failed += 1) > TRIES) throw error;
      await new Promise(done => setTimeout(done, PAUSE_MS * failed));
      offset = Number((await reply(place, { method: "HEAD", headers: { "tus-resumable": "1.0.0" } })).headers.get("upload-offset"));
    }
  }
  return get(`${JOBS}/${place.split("/").pop()}`);
}

// Shows a job until it ends; a stream that was cut is taken up again.
async function follow(job) {
  const files = new Map(job.files.map(each => [each.name, each])), shown = h("div", {});
  const end = h("button", { type: "button", onclick: () => post(`${JOBS}/${job.job_id}/cancel`, {}).catch(error => tell(fault(error))) }, w.cancel);
  byId("upload-jobs").append(h("div", {}, end, shown));
  const draw = () => shown.replaceChildren(table(say(w.job, { id: job.job_id }), [w.file, w.state, w.stage, w.why], [...files.values()].map(each => [each.name,
    h("span", { "data-state": each.state }, each.state), each.stage, each.error_code ? [`${each.error_message} `, h("code", {}, each.error_code)] : ""])));
  draw();
  let last = null, current = job;
  for (let failed = 0; !["done", "failed", "cancelled"].includes(current.state);) {
    try {
      const response = await reply(`${JOBS}/${job.job_id}/events`, { headers: { accept: "text/event-stream", ...(last ? { "last-event-id": last } : {}) } });
      for await (const { id, event, data } of eventsOf(response)) {
        last = id;
        if (event === "file") files.set(data.name, data); else current = data;
        draw();
        tell(say(w.progress, { ended: [...files.values()].filter(each => ["done", "skipped", "failed"].includes(each.state)).length, count: current.file_count }));
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status > 0 || (failed += 1) > TRIES) throw error;
      await new Promise(done => setTimeout(done, PAUSE_MS));
    }
  }
  end.remove();
  const kept = [...files.values()].filter(each => each.state === "failed").length;
  tell(say(w[`ended_${current.state}`], { count: files.size, failed: kept }));
  if (kept && current.state !== "cancelled") shown.append(h("button", { type: "button", onclick: event => again(job, event.target) }, w.retry));
}

async function again(job, button) {
  button.disabled = true;
  try { await follow(await post(`${JOBS}/${job.job_id}/retry`, {})); } catch (error) { tell(fault(error)); }
}

const tell = text => byId("upload-state").replaceChildren(text);
