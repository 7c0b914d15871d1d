// Links to the same data in another form. A link cannot carry a key, so the form is fetched and saved.
import { fault, text } from "./api.js";
import { byId, save } from "./dom.js";

export function twin(id, path, name, type) {
  const link = byId(id);
  link.href = path;
  link.onclick = async event => {
    event.preventDefault();
    try { save(name, await text(path, type), type); } catch (error) { link.after(fault(error)); }
  };
}
