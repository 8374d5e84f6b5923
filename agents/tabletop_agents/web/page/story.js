/* What others did, one thing after another: its board, with a sentence below. */

import { $, make, named, sentence, token } from "./dom.js";
import { showBoard } from "./board.js";
import { remember, setting } from "./settings.js";

const READ = 650; // milliseconds for any sentence at single speed
const LETTER = 22; // more for each letter
const LONGEST = 3200;

let finish = null; // ends the present pause
let skipped = false;

export const speed = () => Number($("speed").value);

function pause(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds / speed());
    finish = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

/* Play what led to a view. Nothing is played while nobody looks at the page. */
export async function play(view) {
  skipped = document.hidden;
  document.body.dataset.playing = "true";
  $("skip").hidden = view.kind === "watch";
  for (const { by, done, changes } of view.steps) {
    const owner = view.owners[by];
    const entry = write(view, owner, done);
    entry.classList.add("now");
    if (done) await tell(view, caption(owner, done, view.owners), null, done);
    for (const { text, board } of changes) {
      entry.querySelector("ul").append(make("li", "", ...named(text, view.owners)));
      scrollLog();
      await tell(view, [make("span", "", ...named(text, view.owners))], board, text);
    }
    entry.classList.remove("now");
  }
  delete document.body.dataset.playing;
  $("skip").hidden = true;
}

/* What led to a view, in words only. */
export function recall(view) {
  for (const { by, done, changes } of view.steps) {
    const entry = write(view, view.owners[by], done);
    entry.querySelector("ul").append(...changes.map(({ text }) => make("li", "", ...named(text, view.owners))));
  }
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

async function tell(view, words, board, text) {
  $("caption").replaceChildren(...words);
  if (skipped || !speed()) return;
  document.body.style.setProperty("--fade", `${Math.min(0.35, 0.5 / speed())}s`);
  if (board) showBoard(view.parts, board, text, true);
  await pause(Math.min(LONGEST, READ + LETTER * text.length));
}

/* What was told last didn't happen after all. */
export function forgetLast() {
  $("log").lastElementChild?.remove();
}

export const isPlaying = () => document.body.dataset.playing === "true";

/* Go to the end of what is told. */
export function skip() {
  skipped = true;
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
  finish?.(); // the next sentence comes at the new speed
}

new ResizeObserver(scrollLog).observe($("log")); // what was hidden could not be scrolled
$("speed").value = setting("speed", "1");
if ($("speed").selectedIndex < 0) $("speed").value = "1";
$("speed").addEventListener("change", keepSpeed);
