/* Beside the question: the cards that can be chosen, large, and the answers that have no place on the board. */

import { $, button, make } from "./dom.js";

/* entries: [{key, words, picture}]; a card has a picture. chosen: the key that is chosen.

asides: words of buttons, each with whether what is behind it is shown. press(key, at once), turn(words) and hover(keys) are told what is done.
*/
export function showHand(entries, chosen, asides, press, turn, hover) {
  const focused = document.activeElement.closest?.("#hand button")?.dataset.key;
  const cards = entries.map(({ key, words, picture }) => {
    const one = button([...(picture ? [picture] : []), make("span", "", words)], () => press(key), picture ? "card" : "");
    one.dataset.key = one.dataset.action = key;
    one.setAttribute("aria-pressed", key === chosen);
    one.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || $("typed").textContent) return; // a number that was typed comes first
      event.preventDefault();
      press(key, true);
    });
    for (const [start, end] of [["pointerenter", "pointerleave"], ["focus", "blur"]]) {
      one.addEventListener(start, () => hover([key]));
      one.addEventListener(end, () => hover([]));
    }
    return one;
  });
  const ways = asides.map(([words, shown]) => {
    const one = button(`${words} …`, () => turn(shown ? "" : words), "aside");
    one.dataset.key = words;
    one.setAttribute("aria-expanded", shown);
    return one;
  });
  $("hand").replaceChildren(...cards, ...ways);
  $("hand").classList.toggle("chosen", chosen !== undefined);
  if (focused) $("hand").querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

export function disableHand() {
  for (const one of $("hand").children) one.disabled = true;
}

export function lightHand(keys) {
  for (const one of $("hand").children) one.classList.toggle("lit", keys.includes(Number(one.dataset.action)));
}
