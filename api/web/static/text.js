// The words of the pages, from the one catalogue.
export const words = await (await fetch(new URL("strings.json", import.meta.url))).json();

// A phrase with its {names} filled in.
export const say = (phrase, values = {}) => phrase.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
