// The words of the pages, from the one catalogue.
export const words = await (await fetch(new URL("strings.json", import.meta.url))).json();

// A phrase with its {names} filled in; {name|one|many} is the second word where that value is 1, else the third.
export const say = (phrase, values = {}) => phrase.replace(/\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (whole, name, one, many) => {
  if (values[name] === undefined || values[name] === null) return whole;
  return one === undefined ? values[name] : String(values[name]) === "1" ? one : many;
});

const MOST = 240;

// A text in a list: its beginning, where it is a long one.
export const clipped = text => { const characters = [...text]; return characters.length > MOST ? `${characters.slice(0, MOST).join("").trimEnd()} …` : text; };
