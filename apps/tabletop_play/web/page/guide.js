/* A first game: what the player is told at each step, and the place that is meant. */

import { whereIs } from "./board.js";
import { $, button, draw, make } from "./dom.js";

let read = 0; // texts that are only to be read, since something was chosen
let last = "";

/* The step at which so many actions are chosen; null without one. `name` is the action that is asked for, "" to read on. */
export function guided({ guide, number }, begun) {
  if (!guide) return null;
  if (last !== `${number} ${begun}`) [last, read] = [`${number} ${begun}`, 0];
  const { steps, of } = guide;
  let at = 0;
  for (let chosen = begun; chosen && at < steps.length; at++) if (steps[at].name) chosen--;
  for (let more = read; more && at + 1 < steps.length && !steps[at].name; more--) at++;
  const { name = null, place = [] } = steps[at] ?? {}, isLast = name === "" && at + 1 === steps.length;
  const told = (until) => ({ text: steps.slice(0, until).findLast(({ text }) => text)?.text ?? "", title: `Step ${of - steps.slice(until).filter(({ text }) => text).length} of ${of}` });
  return { name, place, isLast, goesOn: name === "" && !isLast, next: told(at + 1), chosen: told(at) };
}

/* Tell a step, and point at its place. isWhole: what is asked for is chosen. onNext: to go on to the next step. */
export function showGuide({ place, goesOn, next: asked, chosen }, offered, isWhole, onNext) {
  const { text, title } = isWhole ? chosen : asked;
  $("learning").hidden = $("lesson").hidden = false;
  $("introduction").hidden = true;
  $("lesson").open = true;
  $("lesson").querySelector("summary").textContent = title;
  const next = () => {
    read++;
    onNext();
  };
  $("lesson").querySelector("div").replaceChildren(
    make("p", "", text, ...(isWhole ? [" ", make("b", "", "Now press “Do it”.")] : [])),
    ...(goesOn && !isWhole ? [button("Next", next, "main")] : []),
  );
  document.body.dataset.guided = isWhole ? "given" : "chosen"; // what is to be done next
  const inHand = offered && $("hand").querySelector(`[data-key="${CSS.escape(offered.key)}"]`);
  pointAt(isWhole || inHand ? null : (offered?.places[0] ?? (place.length ? place : null)));
}

/* An arrow at a place; null: none. */
function pointAt(path) {
  $("pointer")?.remove();
  const found = path && whereIs(path);
  if (!found) return;
  const { x, y, width, height } = found.box, isAbove = y < 44; // there is no room for it above
  const tip = [x + Math.min(width / 2, 40), isAbove ? y + height - 6 : y + 6];
  const arrow = draw("path", { d: "M0 0l-13 -20h7v-24h12v24h7z", transform: `translate(${tip})rotate(${isAbove ? 180 : 0})` });
  found.sheet.append(draw("svg", { id: "pointer", viewBox: found.viewBox, "aria-hidden": "true" }, arrow));
  if (!found.isDesk) scrollBy({ top: arrow.getBoundingClientRect().top - innerHeight / 5, behavior: "instant" });
}

export function leaveGuide() {
  pointAt(null);
  delete document.body.dataset.guided;
}
