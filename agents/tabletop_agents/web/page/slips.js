/* Which presses count: none in the first moments of a question, and a double click is one. */

import { $ } from "./dom.js";

const FIRST = 300; // milliseconds of a question in which it takes no answer
const TWICE = 500; // milliseconds within which a second click at the same place belongs to the first
const NEAR = 16; // CSS pixels

let shown = 0; // when the question came
let click = { time: -TWICE, x: 0, y: 0 }; // the last one on an answer
let given = click; // the last one that gave an answer

/* A question has come. Returns for how many milliseconds a press on it may not count. */
export function questionCame() {
  shown = performance.now();
  return Math.max(FIRST, given.time + TWICE - shown);
}

/* What was pressed last gave an answer. */
export function answerGiven() {
  given = click;
}

const early = ({ timeStamp }) => timeStamp < shown + FIRST;
const again = ({ timeStamp, clientX, clientY, detail }) =>
  detail > 0 && timeStamp < given.time + TWICE && Math.hypot(clientX - given.x, clientY - given.y) < NEAR;

function refuse(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("#answers, #marks, #menu")) return;
  if (early(event) || again(event)) refuse(event);
  else if (event.detail > 0) click = { time: event.timeStamp, x: event.clientX, y: event.clientY };
}, true);

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  const answers = event.target.closest?.("#answers, #marks, #menu, #filter-row") || (event.key === "Enter" && $("typed").textContent);
  if (answers && (early(event) || event.repeat)) refuse(event);
}, true);
