/* What others and chance did, one thing after another. While a question waits, it is told beside it. */

import { $, make, named, sentence, token } from "./dom.js";
import { flash, showBoard } from "./board.js";
import { remember, setting } from "./settings.js";

const READ = 650; // milliseconds for any sentence at single speed
const LETTER = 22; // more for each letter
const LONGEST = 3200;

let finish = null; // ends the present pause
let skipped = false;
let hurried = false; // somebody is asked meanwhile: the rest is told beside the question
let onHurry = () => {};
let beside = []; // what is told beside a question: {words, text, parts}
let telling = null; // settled when all of it is told

export const speed = () => Number($("speed").value);

function pause(text) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(LONGEST, READ + LETTER * text.length) / speed());
    finish = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

/* Tell what led to a view, with its boards. It ends early if `hurry` is called. Nothing is told while nobody looks. */
export async function play(view) {
  skipped = document.hidden;
  hurried = false;
  document.body.dataset.playing = "true";
  $("skip").hidden = view.kind === "watch";
  const inTime = new Promise((resolve) => {
    onHurry = resolve;
    setTimeout(resolve, LONGEST);
  });
  const { boards, parts } = withBoards(view, await Promise.race([inTime, Promise.all([view.drawn, telling]).then(([found]) => found)]));
  if (telling) hurried = true; // it goes on, so this follows it
  let number = 0, shown = [];
  for (const { by, done, changes } of view.steps) {
    const owner = view.owners[by];
    const entry = write(view, owner, done);
    entry.classList.add("now");
    if (done) await tell(caption(owner, done, view.owners), done);
    for (const text of changes) {
      const board = number === boards.length - 1 ? view.board : boards[number];
      number += 1;
      entry.querySelector("ul").append(make("li", "", ...named(text, view.owners)));
      scrollLog();
      if (board && !skipped && !hurried && speed()) showBoard(parts, board, text, true);
      await tell([make("span", "", ...named(text, view.owners))], text, board ? fresh(parts, board, shown) : []);
      shown = board ? board.map((part) => parts[part]) : shown;
    }
    entry.classList.remove("now");
  }
  finish = null;
  delete document.body.dataset.playing;
  $("skip").hidden = !telling;
}

/* The boards of what led to a view and their parts; no boards if none have come. */
const withBoards = (view, found) => ({ boards: found?.boards ?? [], parts: [...view.parts, ...(found?.parts ?? [])] });

/* The parts of a board that were not on the one before. */
function fresh(parts, board, shown) {
  const before = new Set(shown);
  return shown.length ? board.map((part) => parts[part]).filter((part) => !before.has(part)) : [];
}

/* Somebody is asked: what is not yet told, is told beside the question. */
export function hurry() {
  hurried = true;
  onHurry();
  if (isPlaying()) finish?.();
}

/* Tell what led to a view beside its question: what others did, and what an own answer led to. */
export async function tellBeside(view) {
  recall(view);
  if (document.hidden || !speed()) return;
  const told = view.steps.flatMap(({ by, done, changes }) => {
    const owner = view.owners[by], own = owner?.who === "you";
    const lines = changes.map((text) => ({ words: [make("span", "", ...named(text, view.owners))], text, parts: [] }));
    return own ? lines.slice(1) : [...(done ? [{ words: caption(owner, done, view.owners), text: done, parts: [] }] : []), ...lines];
  });
  beside.push(...told);
  tellOn();
  if (!told.length || !view.story) return;
  const { boards, parts } = withBoards(view, await view.drawn);
  const sentences = view.steps.flatMap(({ changes }) => changes);
  let shown = [];
  for (const [number, text] of sentences.entries()) {
    const board = number === sentences.length - 1 ? view.board : boards[number];
    if (!board) continue;
    const line = told.find((one) => one.text === text && !one.parts.length);
    if (line) line.parts = fresh(parts, board, shown);
    shown = board.map((part) => parts[part]);
  }
}

/* One sentence after another, until there are no more or somebody answers. */
function tellOn() {
  if (beside.length) telling ??= tellAll();
}

async function tellAll() {
  await null; // so that it is known that something is told
  $("skip").hidden = false;
  document.body.dataset.telling = "true";
  while (beside.length) {
    const { words, text, parts } = beside.shift();
    $("caption").replaceChildren(...words);
    flash(parts);
    await pause(text);
  }
  flash([]);
  finish = null;
  telling = null;
  delete document.body.dataset.telling;
  $("skip").hidden = !isPlaying();
}

/* What led to a view, in words only. */
export function recall(view) {
  for (const { by, done, changes } of view.steps) {
    const entry = write(view, view.owners[by], done);
    entry.querySelector("ul").append(...changes.map((text) => make("li", "", ...named(text, view.owners))));
  }
  scrollLog();
}

/* That somebody took something back. */
export function tellUndone(view) {
  const { by, done } = view.undone, owner = view.owners[by];
  const who = owner?.who === "you" ? "You take" : `${owner?.name ?? "Somebody"} takes`;
  const words = () => [...(owner ? [token(owner)] : []), make("b", "", `${who} back: `), make("span", "", ...named(done, view.owners))];
  $("log").append(make("li", "undone", make("p", "who", ...words())));
  $("caption").replaceChildren(...words());
  scrollLog();
}

function caption(owner, done, owners) {
  const words = owner ? done : sentence(done);
  return [...(owner ? [token(owner), make("b", "", `${owner.name}: `)] : []), make("span", "", ...named(words, owners))];
}

function write(view, owner, done) {
  const entry = make("li", "", make("p", "who", ...(done ? caption(owner, done, view.owners) : [])), make("ul"));
  if (!done) entry.firstChild.remove();
  $("log").append(entry);
  while ($("log").children.length > 300) $("log").firstChild.remove();
  scrollLog();
  return entry;
}

function scrollLog() {
  $("log").scrollTop = $("log").scrollHeight;
}

async function tell(words, text, parts = []) {
  if (skipped || !speed()) {
    $("caption").replaceChildren(...words);
    return;
  }
  if (hurried) {
    beside.push({ words, text, parts });
    tellOn();
    return;
  }
  $("caption").replaceChildren(...words);
  document.body.style.setProperty("--fade", `${Math.min(0.35, 0.5 / speed())}s`);
  await pause(text);
}

export const isPlaying = () => document.body.dataset.playing === "true";
export const isTelling = () => isPlaying() || telling !== null;

/* Go to the end of what is told. */
export function skip() {
  skipped = true;
  beside = [];
  finish?.();
}

export function clearStory() {
  skip();
  $("log").replaceChildren();
  $("caption").replaceChildren();
}

export function faster(by) {
  const choice = $("speed");
  choice.selectedIndex = Math.max(0, Math.min(choice.options.length - 1, choice.selectedIndex + by));
  keepSpeed();
}

function keepSpeed() {
  remember("speed", $("speed").value);
  if (!speed()) beside = [];
  finish?.(); // the next sentence comes at the new speed
}

new ResizeObserver(scrollLog).observe($("log")); // what was hidden could not be scrolled
$("speed").value = setting("speed", "1");
if ($("speed").selectedIndex < 0) $("speed").value = "1";
$("speed").addEventListener("change", keepSpeed);
