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

// The links at the foot of a page.
for (const link of document.querySelectorAll("a[data-twin]")) {
  const name = link.textContent.split("/").at(-1);
  link.onclick = event => fetched(event, link.getAttribute("href"), name, name.endsWith(".csv") ? "text/csv" : "application/json");
}

// Lets one of them lead to what the page shows now: with what its address asks for.
export function foot(path, address) {
  for (const link of document.querySelectorAll("a[data-twin]")) if (link.textContent === path) link.href = address;
}
