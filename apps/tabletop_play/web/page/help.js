/* All keys, in a dialog. */

import { $, make } from "./dom.js";

const KEYS = [
  [["1", "2", "…", "Enter"], "the answer of that number"],
  [["↑", "↓"], "through the answers"],
  [["Tab"], "to the next control, and to the board; there arrows go from place to place"],
  [["Enter"], "what has the focus"],
  [["/"], "filter the answers"],
  [["u"], "undo; or what was chosen last"],
  [["?"], "advice"],
  [["Space"], "skip what is told; watching: go, pause"],
  [["+", "−"], "faster, slower"],
  [["←", "→", "Home", "End"], "analysing: along the moves; watching: → is one step"],
  [["Esc"], "what was chosen last; close, leave"],
  [["h"], "this help"],
];

export function showHelp() {
  $("help").showModal();
}

const keys = (names) => names.flatMap((name, i) => [...(i ? [" "] : []), make("kbd", "", name)]);

$("keys").replaceChildren(...KEYS.map(([names, words]) => make("div", "", make("dt", "", ...keys(names)), make("dd", "", words))));
$("show-help").addEventListener("click", showHelp);
