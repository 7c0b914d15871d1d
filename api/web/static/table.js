// Tables: a heading row, cells from data, and a region that scrolls by keyboard where the table is wider than the page.
import { h } from "./dom.js";
import { say, words } from "./text.js";

// What may be wider than the page. Its name is not that of the section which it is in: each landmark has a name of its own.
export const wide = (name, ...children) => h("div", { className: "table", tabIndex: 0, role: "region", "aria-label": say(words.site.table, { name }) }, ...children);

export const table = (label, headings, rows) => wide(label, h("table", {},
  h("thead", {}, h("tr", {}, headings.map(name => h("th", { scope: "col" }, name)))),
  h("tbody", {}, rows.map(cells => h("tr", {}, cells.map(cell => h("td", {}, cell)))))));

// A moment as people read it, in UTC.
export const moment = ms => {
  const time = new Date(ms).toISOString();
  return h("time", { dateTime: time }, time.slice(0, 19).replace("T", " "));
};
