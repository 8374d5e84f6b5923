/* What others and chance did: each turn once on the board, with a sentence; in the list of what happened a line a turn. */

import { endMoments, showMoment } from "./board.js";
import { $, make, named, sentence, token } from "./dom.js";
import { remember, setting } from "./settings.js";

const LATE = 3000; // milliseconds for a turn's board to come
const LONG = 4; // sentences: with more of them, what an answer led to is shown in moments, as when a round ends
const MOMENT = 90; // letters for a moment, so that it can be read

let queue = []; // turns that are to be shown: {view, words, last}
let round = 0; // what was skipped is shown no more
let running = false;
let known = new Set(); // sentences
let written = null; // the turn that stands last in the list of what happened
let finish = () => {}; // ends the present pause
let onHurry = () => {};
let onEnd = () => {};

/* Seconds for each turn; 0: none is shown. */
export const seconds = () => Number($("speed").value);

export const isTelling = () => running;

/* act() is done when all is shown, or skipped. */
export function afterTelling(act) {
  onEnd = act;
}

/* What was told of an own answer before it was given. Only the rest of what it led to is news. */
export function foreseen(sentences) {
  known = new Set(sentences);
}

/* What one player answered in a row, before anything was drawn: {by, begins, owner, done, changes, then, last, ends}, `last` the number of its last sentence, `ends` how many the last answer has. */
function turnsOf({ steps, owners }) {
  const turns = [];
  let last = -1;
  for (const { by, done, changes, begins } of steps) {
    last += changes.length;
    if (begins || turns.at(-1)?.by !== by) turns.push({ by, begins, owner: owners[by], done: [], changes: [] });
    const turn = turns.at(-1);
    if (done) turn.done.push(done);
    turn.changes.push(...changes);
    Object.assign(turn, { last, then: changes[1], ends: changes.length }); // what followed from the last answer, if it had one effect
  }
  return turns;
}

/* A turn in a sentence; of an own one, what followed from it. */
function wordsOf({ owner, done, changes }, owners) {
  const what = done.length ? done.join(", ") : (changes[0] ?? "");
  return [...(owner ? [token(owner), make("b", "", `${owner.name}: `)] : []), make("span", "", ...named(owner ? what : sentence(what), owners))];
}

/* What the last answer of a turn led to, if that is much, but for the first sentence: {words, last} for each moment. */
function momentsOf({ changes, last, ends }, owners) {
  const moments = [];
  for (const [i, text] of ends > LONG ? changes.slice(1 - ends).entries() : []) {
    const before = moments.at(-1), at = last - ends + 2 + i;
    if (before && before.text.length + text.length < MOMENT) Object.assign(before, { text: `${before.text} ${text}`, last: at });
    else moments.push({ text, last: at });
  }
  return moments.map(({ text, last: at }) => ({ words: named(text, owners), last: at }));
}

/* Show the turns that led to a view on the board, one after another. It settles when they are shown, or `hurry` is called. */
export async function tell(view) {
  recall(view);
  const turns = turnsOf(view).map((turn) => {
    const { owner, changes, then, last, ends } = turn, news = known.size ? changes.find((one) => !known.has(one)) : then;
    const moments = momentsOf(turn, view.owners), words = owner?.who !== "you" ? wordsOf(turn, view.owners) : news && !moments.length ? named(news, view.owners) : null;
    return { words, last: moments.length ? last - ends + 1 : last, moments };
  });
  known = new Set();
  const last = turns.findLast(({ words, moments }) => words || moments.length);
  if (!last) return;
  if (document.hidden || !seconds()) return say(last.words ?? last.moments.at(-1).words);
  queue.push(...turns.flatMap(({ moments, ...turn }) => [turn, ...moments]).map((one) => ({ view, ...one })));
  const told = new Promise((resolve) => (onHurry = queue.at(-1).told = resolve));
  if (!running) run();
  await told;
}

async function run() {
  const mine = ++round;
  running = true;
  document.body.dataset.telling = "true";
  $("skip").hidden = queue[0].view.kind === "watch";
  while (queue.length) {
    const { view, words, last, told } = queue.shift();
    const found = await Promise.race([view.drawn, pause(LATE)]);
    if (mine !== round) return told?.();
    const board = last + 1 === view.steps.reduce((sum, { changes }) => sum + changes.length, 0) ? view.board : found?.boards.slice(0, last + 1).findLast(Boolean);
    if (board) showMoment([...view.parts, ...(found?.parts ?? [])], board);
    if (words) {
      say(words);
      await pause(1000 * seconds());
    }
    told?.();
    if (mine !== round) return;
  }
  skip();
}

function say(words) {
  $("caption").replaceChildren(...words);
  $("caption").classList.remove("waiting");
}

function pause(time) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    finish = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

/* Somebody is asked meanwhile: the question doesn't wait for what is shown. */
export const hurry = () => onHurry();

/* End what is shown. */
export function skip() {
  if (!running) return;
  round++;
  for (const { told } of queue) told?.();
  queue = [];
  running = false;
  delete document.body.dataset.telling;
  $("skip").hidden = true;
  finish();
  endMoments();
  onEnd();
}

/* What led to a view, in words: a line a turn, with its details folded. What was told of a turn before, it continues. */
export function recall(view) {
  for (let turn of turnsOf(view)) {
    if (written?.by === turn.by && !turn.begins) {
      turn = { ...turn, done: [...written.done, ...turn.done], changes: [...written.changes, ...turn.changes] };
      $("log").lastChild.remove();
    }
    written = turn;
    const words = wordsOf(turn, view.owners), rest = turn.done.length ? turn.changes : turn.changes.slice(1);
    const details = () => make("details", "", make("summary", "who", ...words), make("ul", "", ...rest.map((text) => make("li", "", ...named(text, view.owners)))));
    $("log").append(make("li", "", rest.length ? details() : make("p", "who", ...words)));
  }
  while ($("log").children.length > 300) $("log").firstChild.remove();
  scrollLog();
}

/* That somebody took something back. */
export function tellUndone(view) {
  const { by, done } = view.undone, owner = view.owners[by];
  const who = owner?.who === "you" ? "You take" : `${owner?.name ?? "Somebody"} takes`;
  const words = () => [...(owner ? [token(owner)] : []), make("b", "", `${who} back: `), make("span", "", ...named(done, view.owners))];
  $("log").append(make("li", "undone", make("p", "who", ...words())));
  written = null;
  $("caption").replaceChildren(...words());
  scrollLog();
}

function scrollLog() {
  $("log").scrollTop = $("log").scrollHeight;
}

export function clearStory() {
  skip();
  $("log").replaceChildren();
  written = null;
  $("caption").replaceChildren();
}

export function faster(by) {
  const choice = $("speed");
  choice.selectedIndex = Math.max(0, Math.min(choice.options.length - 1, choice.selectedIndex + by));
  keepSpeed();
}

function keepSpeed() {
  remember("turns", $("speed").value);
  if (!seconds()) skip();
}

new ResizeObserver(scrollLog).observe($("log")); // what was hidden could not be scrolled
$("speed").value = setting("turns", "0.7");
if ($("speed").selectedIndex < 0) $("speed").value = "0.7";
$("speed").addEventListener("change", keepSpeed);
