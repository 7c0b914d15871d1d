// Elements from data. Text is always set as text, so nothing that a source or a question holds becomes markup.
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && !key.includes("-")) element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = id => document.getElementById(id);

// A list of terms; pairs whose value is empty are left out.
export const facts = pairs => h("dl", { className: "facts" },
  pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));

export const section = (heading, ...children) => h("section", {}, h("h3", {}, heading), ...children);

// An address that a page may link to, whole: http or https; a path is one of the server that these scripts come from.
export const safe = address => {
  try {
    const whole = new URL(address, import.meta.url);
    return ["http:", "https:"].includes(whole.protocol) ? whole.href : null;
  } catch { return null; }
};

// The page of a piece of evidence, from its address in the API: it reads it with the key of the tab.
export const pageOf = href => href.replace("/api/v1/evidence/", "/evidence/");

// Saves text as a file: a link cannot carry the key.
export function save(name, text, type) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}
