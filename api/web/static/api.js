// The public API, with the key of this tab where there is one.
import { h, byId } from "./dom.js";
import { say, words } from "./text.js";

const KEY = "exhibit.key";
let key = () => sessionStorage.getItem(KEY);

// Another place where the key comes from, for pages that are not ours.
export const keyFrom = given => { key = given; };

export class ApiError extends Error {
  constructor(status, code, message) { super(message); this.status = status; this.code = code; }
  get words() { return say(words.site.failed, { message: this.message, code: this.code }); }
}

// The header that says who asks; none without a key.
export const authorization = () => (key() ? { authorization: `Bearer ${key()}` } : {});

// The response to a request, where it is a success. Raises ApiError.
export async function reply(path, options) {
  const headers = { accept: "application/json", ...options.headers, ...authorization() };
  let response;
  try { response = await fetch(new URL(path, import.meta.url), { ...options, headers }); }
  catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "UNREACHABLE", words.site.unreachable);
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  throw new ApiError(response.status, body?.error?.code ?? String(response.status), body?.error?.message ?? response.statusText);
}

export const get = async (path, options = {}) => (await reply(path, options)).json();
export const text = async (path, accept = "*/*") => (await reply(path, { headers: { accept } })).text();
export const bytes = async path => new Uint8Array(await (await reply(path, { headers: { accept: "*/*" } })).arrayBuffer());
export const post = async (path, body, options = {}) => (await reply(path, {
  ...options, method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" },
})).json();

// A path with a query of what is not empty.
export const query = (path, values) => {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
};

// The part of every page where a key is entered; `changed` is called when it is.
export function keyForm(changed) {
  const form = byId("key-form"), field = byId("key"), state = byId("key-state"), details = byId("key-details");
  const tell = () => { state.textContent = sessionStorage.getItem(KEY) ? words.site.key_in_use : words.site.key_none; };
  form.addEventListener("submit", event => {
    event.preventDefault();
    if (field.value.trim()) sessionStorage.setItem(KEY, field.value.trim());
    field.value = "";
    tell();
    changed();
  });
  byId("key-forget").addEventListener("click", () => { sessionStorage.removeItem(KEY); tell(); changed(); });
  tell();
  return { open: () => { details.open = true; } };
}

// A fault in words, where it is announced.
export const fault = error => h("p", { className: "fault", role: "alert" },
  error instanceof ApiError ? error.words : String(error),
  error.status === 401 || error.status === 403 ? ` ${words.site.needs}` : null);
