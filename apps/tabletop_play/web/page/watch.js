/* Watching agents play. The page sets the pace: it asks for a step, and for the one after it while that one is told. */

import { goToStep } from "./analysis.js";
import { $, attempt } from "./dom.js";
import { ask, view, waiting } from "./present.js";
import { skip } from "./story.js";

const REST = 60; // milliseconds between requests: the server takes only so many

let going = false;
let last = 0; // when a step was asked for
let begun = false; // it goes by itself when it is opened, not after a pause
let sending = false;
let owed = false; // a step was asked for and has not come

/* The buttons that this kind of table has. */
export function showWatch({ kind, turn }) {
  const watching = kind === "watch";
  for (const id of ["first", "back", "last"]) $(id).hidden = kind !== "analyse";
  $("forward").hidden = kind === "play";
  $("go").hidden = !watching;
  if (!watching) return;
  $("go").disabled = $("forward").disabled = turn === "over";
  if (turn === "over") setGoing(false);
  else if (!begun) setGoing(true);
  begun = true;
  more();
}

export function closeWatch() {
  setGoing(false);
  begun = owed = false;
}

function setGoing(now) {
  going = now;
  document.body.dataset.going = now;
  $("go").setAttribute("aria-label", now ? "Pause" : "Go");
  $("sign").setAttribute("d", now ? "M7 5v14h3.500V5zM14 5v14h3.500V5z" : "M8 5v14l11-7z");
}

/* A view has come: while it is told, the agents can think about the next step. */
export function stepCame({ turn }) {
  owed = false;
  if (turn !== "over") more();
}

function more() {
  if (going && !owed && !waiting()) step();
}

async function step() {
  if (sending || view()?.turn === "over") return;
  sending = owed = true;
  await new Promise((resolve) => setTimeout(resolve, last + REST - performance.now()));
  last = performance.now();
  if (!(await attempt(() => ask("step")))) {
    owed = false;
    setGoing(false);
  }
  sending = false;
}

export function toggleWatch() {
  setGoing(!going);
  owed = false; // whoever presses gets a step, whatever became of the last one
  more();
}

/* One step: the one that waits already, or a new one. */
export function stepWatch() {
  setGoing(false);
  skip();
  if (!waiting()) step();
}

$("go").addEventListener("click", toggleWatch);
$("forward").addEventListener("click", () => (view().kind === "watch" ? stepWatch() : goToStep(view().step + 1)));
