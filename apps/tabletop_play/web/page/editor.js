/* Setting a position up: by clicks on the board, each of which opens what lies there, and in a form; checked by the server after every change. */

import { $, make } from "./dom.js";
import { light, markPlaces, showBoard } from "./board.js";
import { called, calledInFull, field, problemAt, refresh, withNames } from "./form.js";
import { Position, whereOf } from "./position.js";
import { ask, view } from "./present.js";

const REST = 300; // milliseconds without a change before it is checked
const FEW = 6; // values that are left to the rules one by one, before all are

let at = null; // what the fields belong to: {position, owners, change}; null: the description as text
let accepted = []; // the descriptions that the rules allow, the present one last
let changedAt = []; // the path of the last change
let along = ""; // what was left to the rules with it, in words
let spot = null; // the place on the board that is open: {place, paths}
let timer = 0;
let latest = 0;
let closed = () => {};

/* afterwards: what is done when it has closed. */
export async function openEditor(afterwards) {
  closed = afterwards;
  const { description, form, whole } = await ask("describe");
  at = form && { position: new Position(form, description, whole), owners: view().owners, change };
  accepted = [description];
  along = "";
  if (at) fillForm();
  else fillText(description);
  $("editor").hidden = false;
  document.body.dataset.editing = "true";
  $("editor-error").textContent = "";
  $("editor-title").focus();
  markSpots();
  check();
}

/* The fields that have no place on the board in their groups; then all others, folded away. */
function fillForm() {
  const { keys, groups = [] } = at.position.form, used = new Set(groups.flatMap((group) => group.keys));
  const rest = Object.keys(keys).filter((key) => !used.has(key) && keys[key].kind !== "fixed");
  const general = rest.filter((key) => !["table", "list", "names"].includes(keys[key].kind));
  const made = groups.map(({ words, keys: those, rare }) => group(words, those.filter((key) => keys[key]), !rare));
  if (!groups.length && general.length) made.unshift(group("General", general, true));
  const others = groups.length ? rest : rest.filter((key) => !general.includes(key));
  if (groups.length && others.length) made.push(group("All that lies on the board", others, false));
  else made.push(...others.map((key) => field(at, [key])));
  $("form").replaceChildren(...made);
}

/* Fields under a heading; one that is a group itself needs no other heading. */
function group(words, keys, open) {
  const fields = keys.map((key) => field(at, [key]));
  const simple = fields.filter((one) => !one.matches("details")), groups = fields.filter((one) => one.matches("details"));
  const made = make("details", "", make("summary", "", words), ...(simple.length ? [make("div", "fields", ...simple)] : []), ...groups);
  if (!simple.length && groups.length === 1) groups[0].open = true;
  made.open = open;
  return made;
}

function fillText(description) {
  const area = make("textarea");
  area.id = "description";
  area.spellcheck = false;
  area.setAttribute("aria-label", "The position as JSON");
  area.value = JSON.stringify(description, null, 2);
  area.addEventListener("input", soon);
  $("form").replaceChildren(area);
}

export function closeEditor() {
  if ($("editor").hidden) return;
  clearTimeout(timer);
  latest++;
  closeSpot();
  $("editor").hidden = true;
  $("form").replaceChildren();
  delete document.body.dataset.editing;
  closed();
}

/* What Escape does: close what is open on the board, then the editor. */
export function leaveEditor() {
  if (spot) closeSpot(true);
  else closeEditor();
}

function change(path, value) {
  at.position.set(path, value);
  changedAt = path;
  soon();
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(check, REST);
}

/* The server can be asked again, which it couldn't be meanwhile. */
export function checkAgain() {
  if (!$("editor").hidden) soon();
}

function described() {
  if (at) return at.position.given;
  try {
    return JSON.parse($("description").value);
  } catch (error) {
    throw new Error(`This is no JSON: ${error.message}`);
  }
}

/* Show the position, or what is wrong with it. Where a change contradicts what follows from the rest anyway, that follows anew. */
async function check() {
  const mine = ++latest;
  try {
    const description = described(), found = await ask("check", { description });
    if (mine === latest) accept(found, description, description, []);
  } catch (error) {
    if (mine !== latest || (await checkWithout(mine)) || mine !== latest) return;
    tell(error.message, error.where ?? "");
  }
}

/* Leave to the rules what may follow from the rest, one value or all, if they allow the last change then. Whether they do. */
async function checkWithout(mine) {
  const paths = at ? at.position.following(changedAt) : [];
  const { form, given, whole } = at?.position ?? {};
  for (const left of [...(paths.length <= FEW ? paths.map((path) => [path]) : []), paths]) {
    if (!left.length) return false;
    const less = new Position(form, given, whole);
    for (const path of left) less.set(path, undefined);
    try {
      const found = await ask("check", { description: less.given });
      if (mine === latest) accept(found, given, less.given, left);
      return true;
    } catch {
      if (mine !== latest) return false;
    }
  }
  return false;
}

/* sent: what was given when the server was asked; description: what it allows. */
function accept({ parts, board, form, whole }, sent, description, paths) {
  if (at) Object.assign(at.position, { form, whole }, at.position.given === sent ? { given: description } : {});
  if (JSON.stringify(description) !== JSON.stringify(accepted.at(-1))) {
    accepted.push(description);
    along = paths.length ? ` Left to the rules with it: ${paths.map((path) => calledInFull(at, path)).join("; ")}.` : "";
  }
  tell("", "");
  showBoard(parts, board, "The board as it is set up");
  if (at) refresh($("editor"));
  markSpots();
}

function takeBack() {
  if (!$("use").disabled && accepted.length > 1) accepted.pop();
  at.position.given = accepted.at(-1);
  changedAt = [];
  along = "";
  refresh($("editor"));
  check();
}

/* The words in which the server, or this page, refuses a description. */
function tell(words, where) {
  const told = words && at ? inWords(words, where) : words;
  $("editor-error").textContent = told || `This position is in order.${along}`;
  $("editor-error").classList.toggle("right", !told);
  $("use").disabled = told !== "";
  $("take-back").hidden = !at || (!told && accepted.length < 2);
  if (!at) return;
  problemAt($("spot"), where, told);
  problemAt($("form"), where, spot ? "" : told);
}

/* A refusal in the words of the form: places, names and players as people call them. */
function inWords(text, where) {
  const names = new Map();
  const look = (path) => {
    const node = at.position.node(path);
    if (node.words && path.length) for (const name of [whereOf(path), String(path.at(-1))]) if (!names.has(name)) names.set(name, called(at, path));
    (node.labels ?? []).forEach((label, i) => names.set(`'${node.names[i]}'`, `“${label}”`));
    for (const key of Object.keys(node.keys ?? {})) look([...path, key]);
  };
  look([]);
  let told = text;
  if (where && text.startsWith(where)) {
    const path = [...where.matchAll(/\[(\d+)\]|[^.[]+/g)].map(([key, number]) => (number === undefined ? key : Number(number)));
    try {
      told = calledInFull(at, path) + text.slice(where.length);
    } catch {
      // a place that the form does not have
    }
  }
  told = told.replace(/'[a-z_]+'|\b[a-z]+(?:[._][a-z_]+)+\b/g, (name) => names.get(name) ?? (name.startsWith("'") ? name : name.replaceAll(/[._]/g, " ")));
  return withNames(at, told);
}

/* --- on the board --- */

const titleOf = ({ paths }) => {
  const last = new Set(paths.map((path) => path.at(-1)));
  if (paths.length > 1 && last.size === 1) return called(at, paths[0]);
  return [...new Set(paths.map((path) => (paths.length > 1 ? called(at, path) : calledInFull(at, path))))].join(", ");
};

const isSame = (one, other) => one !== null && other !== null && whereOf(one.paths[0]) === whereOf(other.paths[0]);

/* What lies on the board opens with a click. */
function markSpots() {
  const spots = at ? at.position.places() : [];
  spot = spot && (spots.find((one) => isSame(one, spot) && one.place[0][1] === spot.place[0][1]) ?? spots.find((one) => isSame(one, spot)) ?? spot);
  const shown = (keys) => light(spot ? [...keys, ...spots.filter((one) => one === spot)] : keys);
  markPlaces(spots.map((one) => ({ key: one, words: titleOf(one), places: [one.place] })), openSpot, shown);
  shown([]);
}

function openSpot(chosen) {
  spot = chosen;
  const several = chosen.paths.length > 1;
  $("spot-title").textContent = titleOf(chosen);
  $("spot-fields").replaceChildren(...chosen.paths.map((path) => {
    const made = field(at, path, true);
    // what belongs to one owner is named by what it is
    const name = made.querySelector("legend, label, summary");
    if (several && path.length > 1) name.textContent = called(at, path.slice(0, 1));
    else if (!several && made.matches("details")) made.open = true;
    else if (!several) name.classList.add("unseen"); // the title says it
    return made;
  }));
  $("spot").hidden = false;
  light([chosen]);
  $("spot-title").focus({ preventScroll: true });
  bringIntoSight();
}

/* The place that is open is seen beside its fields, or above the sheet with them. */
function bringIntoSight() {
  const hit = markOf(spot)?.querySelector(".hit").getBoundingClientRect(), bar = $("editor-bar").getBoundingClientRect();
  const end = getComputedStyle($("editor-bar")).position === "fixed" ? bar.top : innerHeight;
  if (hit && (hit.top < 0 || hit.bottom > end)) scrollBy({ top: hit.top - Math.max(8, (end - hit.height) / 2), behavior: "instant" });
  if (bar.top < 0) $("editor-bar").scrollIntoView();
}

const markOf = ({ place }) => $("marks")?.querySelector(`[data-place="${CSS.escape(place.map((one) => one.join(":")).join(" "))}"]`);

function closeSpot(withFocus = false) {
  if (!spot) return;
  const mark = markOf(spot);
  spot = null;
  $("spot").hidden = true;
  $("spot-fields").replaceChildren();
  light([]);
  if (withFocus) (mark ?? $("editor-title")).focus({ preventScroll: true });
}

$("spot").addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.preventDefault();
  event.stopPropagation();
  closeSpot(true);
});
$("spot-close").addEventListener("click", () => closeSpot(true));
$("take-back").addEventListener("click", takeBack);
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
