/* Which view the address asks for, and the keys. */

import { $, complainOn, isTyping } from "./dom.js";
import { showHelp } from "./help.js";
import { showRules } from "./rules.js";
import { closeTableView, openTableView, tableKey } from "./table.js";

const VIEWS = ["start", "table", "rules"];
const startPage = () => import("./start.js"); // which a game does not need
let present = ""; // the address that is shown
let start = null; // what the start page is to begin with

function show(name) {
  for (const one of VIEWS) $(one).hidden = one !== name;
  document.body.dataset.show = name;
}

async function route() {
  const address = location.pathname + location.hash;
  if (address === present) return;
  if ($("table").hidden === false) closeTableView();
  present = address;
  complainOn("");
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const table = location.pathname.match(/^\/table\/([\w-]+)$/);
  const rules = location.hash.match(/^#rules=([\w-]+)(?:&(.*))?$/);
  $("home").textContent = "Board games";
  $("about").textContent = "";
  scrollTo(0, 0);
  if (rules) {
    show("rules");
    await showRules(rules[1], rules[2] ?? "");
  } else if (table) {
    show("table");
    openTableView(table[1], history.state?.kept ?? null, go);
  } else {
    document.title = "Board games";
    show("start");
    await (await startPage()).showStart(start, go);
    start = null;
  }
}

/* Go on in this page: {table: path, kept}, {start: what to begin with}, {rules: game}, {links}, {open: a table's request}. */
async function go({ table, kept, start: wanted, rules, links, open }) {
  if (links) (await startPage()).showLinks(links);
  else if (open) await (await startPage()).openAndGo(open, go);
  else {
    if (table) history.pushState({ kept }, "", table);
    else if (rules) history.pushState(null, "", `/#rules=${rules}`);
    else {
      start = wanted;
      history.pushState(null, "", "/");
      present = "";
    }
    await route();
    $("main").focus({ preventScroll: true });
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  const { target, key } = event;
  if (isTyping(target)) return;
  if (["Enter", " "].includes(key) && target.closest?.("button, a, summary, input, .mark")) {
    // a number that was typed comes before the button that has the focus
    if (key !== "Enter" || !$("typed").textContent) return;
  }
  if (target.type === "range" && key.startsWith("Arrow")) return;
  if (key === "h" ? (showHelp(), true) : document.body.dataset.show === "table" && tableKey(key)) event.preventDefault();
});

for (const button of document.querySelectorAll("[data-closes]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}
addEventListener("popstate", route);
addEventListener("hashchange", route);
$("home").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go({ start: null });
});

route();
