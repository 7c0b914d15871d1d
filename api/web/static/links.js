// Links to the same data in another form. A link cannot carry a key, so the form is fetched and saved.
import { fault, text } from "./api.js";
import { byId, save } from "./dom.js";

export function twin(id, path, name, type) {
  const link = byId(id);
  link.href = path;
  link.onclick = event => fetched(event, path, name, type);
}

async function fetched(event, path, name, type) {
  event.preventDefault();
  try { save(name, await text(path, type), type); } catch (error) { event.target.after(fault(error)); }
}

// The links at the foot of a page: of two entries or of one over time with what the address asks.
for (const link of document.querySelectorAll("a[data-twin]")) {
  const path = link.textContent, name = path.split("/").at(-1);
  link.href = path;
  link.onclick = event => fetched(event, /compare|changes/.test(location.pathname) ? path + location.search : path, name, name.endsWith(".csv") ? "text/csv" : "application/json");
}
