import en from "../../words/en.json";
import zh from "../../words/zh.json";

const catalogues = { en, zh };

// preferred is the language chosen by the address, else the one that the page was
// written to open in, else the browser's, else English.
export function preferred() {
  const chosen = new URLSearchParams(location.search).get("lang") ?? location.hash.match(/lang=(\w+)/)?.[1];
  for (const language of [chosen, document.documentElement.dataset.lang, ...(navigator.languages ?? [navigator.language])]) {
    const short = language?.slice(0, 2).toLowerCase();
    if (short in catalogues) return short;
  }
  return "en";
}

export const other = (language) => (language === "en" ? "zh" : "en");

// wordsOf returns a function that finds a text of a language and fills in the values in
// braces.
export function wordsOf(language) {
  const catalogue = catalogues[language];
  return (key, values = {}) =>
    (Object.hasOwn(catalogue, key) ? catalogue[key] : key).replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}
