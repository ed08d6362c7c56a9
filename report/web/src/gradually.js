// A long page shows its beginning at once, and the rest as the browser has time: who
// reads a result of 1,000 cells doesn't wait for what is far below.
const atOnce = 8;
const pieceMs = 30;

const unfinished = new Map(); // what draws the rest, by element

// gradually replaces the children of an element by what makers return. The element is
// busy until the last is there. A later call for the same element takes its place.
export function gradually(element, makers) {
  const rest = makers.slice(atOnce);
  element.replaceChildren(...makers.slice(0, atOnce).map((make) => make()));
  element.setAttribute("aria-busy", "true");
  const draw = (until) => {
    while (rest.length > 0 && performance.now() < until) element.append(rest.shift()());
    if (rest.length > 0) return;
    unfinished.delete(element);
    element.removeAttribute("aria-busy");
  };
  unfinished.set(element, draw);
  const go = () => {
    if (unfinished.get(element) !== draw) return;
    if (!element.isConnected) return void unfinished.delete(element); // the page was drawn again
    draw(performance.now() + pieceMs);
    setTimeout(go);
  };
  requestAnimationFrame(() => setTimeout(go)); // after the first paint
}

// Paper has everything. Captured, so that it comes before the charts are drawn for paper.
addEventListener("beforeprint", () => unfinished.forEach((draw) => draw(Infinity)), { capture: true });
