// The public API, as whoever is signed in. The browser holds the session in a cookie that no script can read.
import { h, byId } from "./dom.js";
import { say, words } from "./text.js";

const SESSION = "/api/v1/session";
let key = null, session = null;

// A key that goes with every request instead of a session, for pages that are not ours.
export const keyFrom = given => { key = given; };

// Who is signed in; asked once.
const signedIn = () => (session ??= reply(SESSION, {}).then(response => response.json()).catch(() => ({ signed_in: false })));

// True if whoever is signed in has that capability: what they may not see is not asked for.
export const may = async capability => (await signedIn()).capabilities?.includes(capability) ?? false;

export class ApiError extends Error {
  constructor(status, code, message) { super(message); this.status = status; this.code = code; }
  get words() { return say(words.site.failed, { message: this.message, code: this.code }); }
}

// JSON that somebody typed. Raises ApiError.
export function typed(text) {
  try { return JSON.parse(text); }
  catch (error) { throw new ApiError(0, "NOT_JSON", say(words.site.not_json, { detail: error.message })); }
}

// The header that says who asks, where a key does; the browser adds the cookie of a session by itself.
export const authorization = () => (key?.() ? { authorization: `Bearer ${key()}` } : {});

// The header that a request of a session carries, unless it only reads.
const guard = async method => {
  const token = key || method === undefined || method === "GET" ? null : (await signedIn()).csrf_token;
  return token ? { "x-csrf-token": token } : {};
};

// The response to a request, where it is a success. Raises ApiError.
export async function reply(path, options) {
  const headers = { accept: "application/json", ...options.headers, ...authorization(), ...await guard(options.method) };
  let response;
  try { response = await fetch(new URL(path, import.meta.url), { ...options, headers }); }
  catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "UNREACHABLE", words.site.unreachable);
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  const { code = String(response.status), message = response.statusText, details = null } = body?.error ?? {};
  const fields = (details ?? []).map(each => say(words.site.detail, { field: each.field.split(".").at(-1), message: each.message.replace(/\.$/, "") }));
  throw new ApiError(response.status, code, [message, ...fields].join(" "));
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

// The part of every page where somebody signs in; `changed` is called when they did, or signed out.
export function keyForm(changed) {
  const form = byId("key-form"), field = byId("key"), state = byId("key-state"), details = byId("key-details"), out = byId("key-forget");
  const tell = async () => {
    const { signed_in: is, roles } = await signedIn();
    state.className = "";
    state.textContent = is ? say(words.site.signed_in, { roles: roles.join(", ") }) : words.site.signed_out;
    details.querySelector("summary").textContent = is ? say(words.site.account, { roles: roles.join(", ") }) : words.site.sign_in;
    out.hidden = !is;
  };
  const change = async (method, body) => {
    const headers = body ? { "content-type": "application/json" } : {};
    try { await reply(SESSION, { method, body: body && JSON.stringify(body), headers }); }
    catch (error) {
      if (!(error instanceof ApiError)) throw error;
      state.textContent = error.status === 401 ? words.site.key_wrong : error.words;
      state.className = "fault";
      return;
    }
    field.value = "";
    session = null;
    await tell();
    changed();
  };
  form.addEventListener("submit", event => {
    event.preventDefault();
    if (field.value.trim()) change("POST", { credential: field.value.trim() });
  });
  out.addEventListener("click", () => change("DELETE"));
  tell();
  return { open: () => { details.open = true; } };
}

// A fault in words, where it is announced.
export const fault = error => h("p", { className: "fault", role: "alert" },
  error instanceof ApiError ? error.words : String(error),
  error.status === 401 || error.status === 403 ? ` ${words.site.needs}` : null);
