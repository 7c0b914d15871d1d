// Tables: a heading row, cells from data, and a region that scrolls by keyboard where the table is wider than the page.
import { h } from "./dom.js";
import { say, words } from "./text.js";

// What may be wider than the page. Its name is not that of the section which it is in: each landmark has a name of its own.
export const wide = (name, ...children) => h("div", { className: "table", tabIndex: 0, role: "region", "aria-label": say(words.site.table, { name }) }, ...children);

// Rows that a narrow page shows one below the other, each cell under the name of its column. Roles say that it is a table still.
export const rows = (headings, lines, className = "") => h("table", { className: `rows ${className}`, role: "table" },
  h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, headings.map(name => h("th", { scope: "col", role: "columnheader" }, name)))),
  h("tbody", { role: "rowgroup" }, lines));

// A line of such a table; the cells in the order of the columns, whose names are given as text. With `head` the first names the line.
export const line = (names, cells, { className = "", head = false } = {}) => h("tr", { role: "row", className }, cells.map((cell, at) => (head && at === 0
  ? h("th", { scope: "row", role: "rowheader" }, cell) : h("td", { role: "cell", "data-column": names[at] }, cell))));

// A table of cells; without any line, that there is none.
export const table = (label, headings, lines) => (lines.length ? wide(label, rows(headings, lines.map(cells => line(headings, cells))))
  : h("p", { className: "hint" }, words.site.nothing));

// A moment as people read it, in UTC.
export const moment = ms => {
  const time = new Date(ms).toISOString();
  return h("time", { dateTime: time }, time.slice(0, 19).replace("T", " "));
};
