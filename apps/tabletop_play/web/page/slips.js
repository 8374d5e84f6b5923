/* Which presses count: none in the first moments of a question or of what has moved under the pointer, and two clicks at one place in quick succession are one. */

import { $ } from "./dom.js";

const FIRST = 300; // milliseconds of a question in which it takes no answer
const TWICE = 1000; // milliseconds within which a second click at the same place belongs to the first
const DOUBLE = 500; // milliseconds within which two clicks are one that is meant
const NEAR = 16; // CSS pixels
const ANSWERS = "#answers, #marks, #menu, #hand";

let shown = 0; // when the question came
let moved = -FIRST; // when an answer of the list moved under the pointer
let pointer = { x: 0, y: 0 };
let click = { time: -TWICE, x: 0, y: 0 }; // the last one on an answer
let given = click; // the last one that gave an answer, or did something else
let twice = () => {};

/* A question has come. Returns for how many milliseconds a press on it may not count. */
export function questionCame() {
  shown = performance.now();
  return Math.max(FIRST, given.time + TWICE - shown);
}

/* What was pressed last gave an answer. */
export function answerGiven() {
  given = click;
}

/* act() is called for the second of two clicks at one place, the first of which chose something. */
export const onTwice = (act) => (twice = act);

const early = ({ timeStamp }) => timeStamp < shown + FIRST;
const slipped = ({ timeStamp }) => timeStamp < moved + FIRST;
const again = ({ timeStamp, clientX, clientY, detail }) =>
  detail > 0 && timeStamp < given.time + TWICE && Math.hypot(clientX - given.x, clientY - given.y) < NEAR;

function refuse(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

document.addEventListener("pointermove", ({ clientX, clientY }) => {
  if (clientX === pointer.x && clientY === pointer.y) return;
  pointer = { x: clientX, y: clientY };
  moved = -FIRST;
}, true);

document.addEventListener("pointerover", ({ target, timeStamp, clientX, clientY }) => {
  const still = clientX === pointer.x && clientY === pointer.y, isNew = timeStamp < shown + TWICE; // a new question has its own moments
  if (still && !isNew && target.closest?.("#answers, #hand")) moved = timeStamp;
}, true);

document.addEventListener("click", (event) => {
  const { target, timeStamp: time, clientX: x, clientY: y, detail } = event;
  if (given === click && again(event)) {
    refuse(event);
    if (time < given.time + DOUBLE) twice();
  } else if (!target.closest?.(ANSWERS)) {
    if (detail > 0) given = { time, x, y };
  } else if (early(event) || slipped(event) || again(event)) refuse(event);
  else if (detail > 0) click = { time, x, y };
}, true);

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  const answers = event.target.closest?.(`${ANSWERS}, #filter-row, #commit`) || (event.key === "Enter" && $("typed").textContent);
  if (answers && (early(event) || event.repeat)) refuse(event);
}, true);
