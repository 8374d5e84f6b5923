/* A game's rules as text: of a table, or of what is chosen. */

import { rules } from "./api.js";
import { $, attempt, make } from "./dom.js";

export async function showRules(game, of) {
  $("rules-text").replaceChildren(make("p", "waiting", "Loading…"));
  let text = "";
  await attempt(async () => (text = await rules(game, of)));
  $("rules-text").innerHTML = text; // the project's own documents
  for (const [i, table] of $("rules-text").querySelectorAll("table").entries()) {
    const holder = make("div", "scroller"); // a wide one is moved in its own frame, by keyboard, too
    Object.assign(holder, { tabIndex: 0, role: "region", ariaLabel: `Table ${i + 1}` });
    table.replaceWith(holder);
    holder.append(table);
  }
  const title = $("rules-text").querySelector("h2");
  document.title = title ? title.textContent : "Rules";
  $("rules-text").tabIndex = -1;
}
