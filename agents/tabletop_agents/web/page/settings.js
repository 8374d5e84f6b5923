/* What this browser remembers of a person's choices; without a storage, as long as the page is open. */

const KEY = "tabletop";
let kept = {};
try {
  kept = { ...JSON.parse(localStorage.getItem(KEY)) };
} catch {
  // no storage, or something else in it
}

export const setting = (name, otherwise) => kept[name] ?? otherwise;

export function remember(name, value) {
  kept[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // not allowed here
  }
}
