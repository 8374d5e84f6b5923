/* A game's rules as text. */

import { rules } from "./api.js";
import { $, complain, make } from "./dom.js";

export async function showRules(game) {
  $("rules-text").replaceChildren(make("p", "waiting", "Loading…"));
  try {
    $("rules-text").innerHTML = await rules(game); // the project's own document
  } catch (error) {
    $("rules-text").replaceChildren();
    complain(error.message);
    return;
  }
  for (const table of $("rules-text").querySelectorAll("table")) {
    const holder = make("div", "scroller");
    Object.assign(holder, { tabIndex: 0, role: "region", ariaLabel: "Table" });
    table.replaceWith(holder);
    holder.append(table);
  }
  const title = $("rules-text").querySelector("h2");
  document.title = title ? title.textContent : "Rules";
  $("rules-text").tabIndex = -1;
}
