/* Setting a position up: a form of all that its description may hold, checked by the server after every change. */

import { $, attempt, make } from "./dom.js";
import { light, markPlaces, showBoard } from "./board.js";
import { fill, groupsWithPlaces, open, problemAt, read } from "./form.js";
import { ask } from "./present.js";

const REST = 300; // milliseconds without a change before it is checked

let form = null; // what the form is made from; null: the description as text
let others = {}; // of the description, what the form has no fields for
let timer = 0;
let latest = 0;
let closed = () => {};

/* What is done when the editor has closed. */
export function afterEditing(act) {
  closed = act;
}

export const isEditing = () => !$("editor").hidden;

export async function openEditor() {
  const succeeded = await attempt(async () => {
    const { description, form: found } = await ask("describe");
    form = found;
    others = Object.fromEntries(Object.entries(description).filter(([key]) => form && !(key in form.keys)));
    if (form) fill($("form"), form, description, changed);
    else fillText(description);
  });
  if (!succeeded) return;
  $("editor").hidden = false;
  document.body.dataset.editing = "true";
  $("editor-error").textContent = "";
  $("editor-title").focus();
  markGroups();
  check();
}

function fillText(description) {
  const area = make("textarea");
  area.id = "description";
  area.spellcheck = false;
  area.setAttribute("aria-label", "The position as JSON");
  area.value = JSON.stringify(description, null, 2);
  area.addEventListener("input", changed);
  $("form").replaceChildren(area);
}

export function closeEditor() {
  if (!isEditing()) return;
  clearTimeout(timer);
  latest++;
  $("editor").hidden = true;
  $("form").replaceChildren();
  delete document.body.dataset.editing;
  closed();
}

function changed() {
  clearTimeout(timer);
  timer = setTimeout(check, REST);
}

/* The server can be asked again, which it couldn't be meanwhile. */
export function checkAgain() {
  if (isEditing()) changed();
}

function described() {
  if (form) return { ...others, ...read($("form")) };
  try {
    return JSON.parse($("description").value);
  } catch (error) {
    throw new Error(`This is no JSON: ${error.message}`);
  }
}

/* Show the position, or what is wrong with it. */
async function check() {
  const mine = ++latest;
  try {
    const { parts, board } = await ask("check", { description: described() });
    if (mine !== latest) return;
    tell("", "");
    showBoard(parts, board, "The board as it is set up");
    markGroups();
  } catch (error) {
    if (mine === latest) tell(error.message, error.where ?? "");
  }
}

/* What lies on the board leads to its fields. */
function markGroups() {
  markPlaces(form ? groupsWithPlaces($("form")) : [], open, light);
}

/* The words in which the server, or this page, refuses a description. */
function tell(words, where) {
  $("editor-error").textContent = words || "This position is in order.";
  $("editor-error").classList.toggle("right", !words);
  $("use").disabled = words !== "";
  if (form) problemAt($("form"), where, words);
}

$("form").addEventListener("submit", (event) => event.preventDefault());
$("cancel").addEventListener("click", closeEditor);
$("use").addEventListener("click", async () => {
  try {
    await ask("position", { description: described() });
    closeEditor();
  } catch (error) {
    tell(error.message, error.where ?? "");
  }
});
