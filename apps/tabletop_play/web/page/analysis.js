/* Analysing: along a line of moves, with any agent's opinion, and out of here as a file, a picture or a game. */

import { askAdvice } from "./advice.js";
import { boardDocument } from "./board.js";
import { $, attempt, button, download, make, token } from "./dom.js";
import { closeEditor, openEditor } from "./editing.js";
import { savePicture } from "./pictures.js";
import { ask, playersOf, present, save, view } from "./present.js";

let going = false;
let wanted = null; // the step to go to, the latest one
let way = "goto"; // or "return": to the game that is looked back at
let line = null; // the moves in the list

export function showAnalysis(now) {
  const analysing = now.kind === "analyse";
  for (const id of ["time", "place", "analysis", "moves"]) $(id).hidden = !analysing;
  $("done").hidden = analysing && !now.steps.length;
  if (!analysing) return;
  const { step, line: moves, seat, owners, can } = now, last = moves.length;
  $("slider").max = last;
  if (wanted === null || wanted === step) $("slider").value = step; // not while somebody drags it
  $("slider").setAttribute("aria-valuetext", `step ${step} of ${last}`);
  const where = [`Step ${step} of ${last}`, now.rounds > 1 ? `round ${now.round} of ${now.rounds}` : "", now.phase];
  $("place").textContent = where.filter(Boolean).join(", ");
  $("first").disabled = $("back").disabled = step === 0;
  $("forward").disabled = $("last").disabled = step === last;
  showLine(moves, step, owners);
  const players = owners.slice(0, playersOf(now));
  $("look").replaceChildren(new Option("all hands", ""), ...players.map((owner, number) => new Option(owner.name, number)));
  $("look").value = seat ?? "";
  $("ask-agents").disabled = !can.advice;
  if (!$("agent-name").value) $("agent-name").value = now.advisers[0] ?? "";
  for (const id of ["export-scenario", "export-replay", "export-page", "play-from-here"]) $(id).disabled = !can.export;
  $("review-line").disabled = !can.review || !last;
}

function showLine(moves, step, owners) {
  const text = JSON.stringify(moves);
  if (line !== text) {
    line = text;
    const items = [{ by: -1, text: "the start" }, ...moves].map((move, number) => {
      const shape = owners[move.by] ? [token(owners[move.by], "small")] : [];
      const one = button([make("span", "number", String(number)), ...shape, make("span", "", move.text)], () => goToStep(number));
      one.dataset.step = number;
      return make("li", "", one);
    });
    $("line").replaceChildren(...items);
  }
  [...$("line").children].forEach(({ firstChild: one }, number) => {
    one.classList.toggle("later", number > step);
    if (number === step) one.setAttribute("aria-current", "step");
    else one.removeAttribute("aria-current");
  });
  scrollLine();
}

function scrollLine() {
  const present = $("line").querySelector("[aria-current]");
  if (present) $("line").scrollTop = present.offsetTop - $("line").offsetTop - $("line").clientHeight / 2;
}

export function closeAnalysis() {
  closeEditor();
  wanted = null;
  line = null;
  for (const id of ["time", "place", "analysis", "moves"]) $(id).hidden = true;
  $("agent-name").value = "";
  $("done").hidden = false;
}

const REST = 60; // milliseconds between steps: the server takes only so many messages

/* One request at a time; of those that come meanwhile the latest is sent. */
export async function goToStep(step, by = "goto") {
  way = by;
  wanted = by === "return" ? step : Math.max(0, Math.min(view().line.length, step));
  if (going) return;
  going = true;
  await attempt(async () => {
    while (wanted !== null) {
      const to = wanted;
      await ask(way, { step: to });
      if (wanted === to) wanted = null;
      await new Promise((resolve) => setTimeout(resolve, REST));
    }
  });
  wanted = null;
  going = false;
}

const MOVES = {
  ArrowLeft: () => goToStep((wanted ?? view().step) - 1),
  ArrowRight: () => goToStep((wanted ?? view().step) + 1),
  Home: () => goToStep(0),
  End: () => goToStep(view().line.length),
};

export function moveInLine(key) {
  if (!MOVES[key]) return false;
  MOVES[key]();
  return true;
}

async function playFromHere() {
  const { text } = await ask("export", { what: "scenario" });
  present.leave({ start: { game: view().game, players: playersOf(view()), scenario: text } });
}

new ResizeObserver(scrollLine).observe($("line")); // what was hidden could not be scrolled
$("first").addEventListener("click", MOVES.Home);
$("back").addEventListener("click", MOVES.ArrowLeft);
$("last").addEventListener("click", MOVES.End);
$("slider").addEventListener("input", () => goToStep(Number($("slider").value)));
$("look").addEventListener("change", () => {
  const seat = $("look").value === "" ? null : Number($("look").value);
  attempt(() => ask("look", { seat }));
});
$("panel-of-agents").addEventListener("submit", (event) => {
  event.preventDefault();
  const names = $("agent-name").value.split(/[,\s]+/).filter(Boolean);
  askAdvice(names.length ? [...new Set(names)].slice(0, 4) : undefined);
});
$("play-from-here").addEventListener("click", () => attempt(playFromHere));
$("set-up").addEventListener("click", openEditor);
$("export-scenario").addEventListener("click", () => save("scenario"));
$("export-replay").addEventListener("click", () => save("replay"));
$("export-page").addEventListener("click", () => save("page"));
const picture = () => `${view().game}-${view().step}`;
const saveSvg = () => download(`${picture()}.svg`, new Blob([boardDocument()], { type: "image/svg+xml" }));
$("export-svg").addEventListener("click", () => attempt(saveSvg));
$("export-png").addEventListener("click", () => attempt(() => savePicture(boardDocument(), `${picture()}.png`)));
