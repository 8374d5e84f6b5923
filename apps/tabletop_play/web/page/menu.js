/* A small menu at an element: what can be done there. */

import { $, button } from "./dom.js";
import { clamped } from "./geometry.js";

let owner = null;

/* entries: [{words, act}] */
export function openMenu(element, entries) {
  const menu = $("menu");
  owner = element;
  menu.replaceChildren(...entries.map(({ words, act }) => {
    const item = button(words, () => {
      closeMenu();
      act();
    });
    item.setAttribute("role", "menuitem");
    item.tabIndex = -1;
    return item;
  }));
  menu.setAttribute("aria-label", `${entries.length} answers here`);
  menu.hidden = false;
  const at = element.getBoundingClientRect(), { width, height } = menu.getBoundingClientRect();
  const below = at.bottom + 6 + height < innerHeight;
  menu.style.left = `${clamped(at.left, 8, innerWidth - width - 8)}px`;
  menu.style.top = `${Math.max(8, below ? at.bottom + 6 : Math.min(at.top - height - 6, innerHeight - height - 8))}px`;
  menu.firstElementChild.focus();
}

export function closeMenu(withFocus = false) {
  if ($("menu").hidden) return;
  $("menu").hidden = true;
  $("menu").replaceChildren();
  if (withFocus && owner?.isConnected) owner.focus();
  owner = null;
}

$("menu").addEventListener("keydown", (event) => {
  const items = [...$("menu").children], at = items.indexOf(document.activeElement);
  const to = { ArrowDown: (at + 1) % items.length, ArrowUp: (at + items.length - 1) % items.length, Home: 0, End: items.length - 1 }[event.key];
  event.stopPropagation();
  if (event.key === "Escape" || event.key === "Tab") closeMenu(true);
  else if (to !== undefined) items[to].focus();
  else return;
  event.preventDefault();
});
document.addEventListener("pointerdown", ({ target }) => {
  if (!$("menu").contains(target)) closeMenu();
});
addEventListener("resize", () => closeMenu());
addEventListener("scroll", ({ target }) => target !== $("menu") && closeMenu(), true);
