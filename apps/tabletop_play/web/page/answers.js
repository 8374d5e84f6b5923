/* The list of the legal answers in words: numbered, filtered by typing, with what agents think of each. */

import { estimateWords } from "./curve.js";
import { $, button, make, named } from "./dom.js";
import { remember, setting } from "./settings.js";

const MANY = 9; // from here on there is a field to filter by
const KEPT = 4000; // milliseconds for the next digit

let rows = []; // {answer, item, button}; those that begin alike stand under one heading
let heads = []; // {item, title, rows}
let left = ({ steps }) => steps; // what is left of an answer after what was chosen on the board; null if that is not a part of it
let begun = 0; // how much was chosen there
let digits = "";
let timer = 0;
let give = () => {};

/* choose(answer) is called for the one that is picked; hover(answers) is told where the pointer or the focus is. */
export function showAnswers(answers, owners, choose, hover) {
  give = choose;
  typeNothing();
  $("filter").value = "";
  $("filter-row").hidden = answers.length < MANY;
  const alike = new Map(); // by the first action
  for (const { actions } of answers) alike.set(actions[0], (alike.get(actions[0]) ?? 0) + 1);
  heads = [];
  [left, begun] = [({ steps }) => steps, 0];
  rows = answers.map((answer, i) => {
    const first = answer.actions[0], begins = `${answer.steps[0].text}, `;
    const shared = alike.get(first) > 1 && answer.text.startsWith(begins);
    const words = make("span", "words", ...(shared ? [make("span", "unseen", begins)] : []), ...named(shared ? answer.text.slice(begins.length) : answer.text, owners));
    const one = button([make("span", "number", String(i + 1)), words], () => choose(answer));
    one.dataset.action = answer.actions.join(" ");
    for (const [start, end] of [["pointerenter", "pointerleave"], ["focus", "blur"]]) {
      one.addEventListener(start, () => hover([answer]));
      one.addEventListener(end, () => hover([]));
    }
    const row = { answer, button: one, item: make("li", shared ? "goes-on" : answer.gives_up ? "apart" : "", one) };
    if (shared && heads.at(-1)?.first !== first) {
      const title = make("span", "begins", ...named(answer.steps[0].text, owners));
      heads.push({ first, title, item: make("li", "head", title), rows: [] });
    }
    if (shared) heads.at(-1).rows.push(row);
    return row;
  });
  $("answers").replaceChildren(...rows.flatMap((row) => {
    const head = heads.find(({ rows: [first] }) => first === row);
    return head ? [head.item, row.item] : [row.item];
  }));
  filter();
}

/* Only answers of which something is left after so much was chosen on the board. */
export function narrowAnswers(...chosen) {
  [left, begun] = chosen;
  filter();
}

export function disableAnswers(disabled = true) {
  for (const row of rows) row.button.disabled = disabled;
}

export function lightAnswers(those) {
  for (const { answer, button } of rows) button.classList.toggle("lit", those.includes(answer));
}

/* --- numbers and words that are typed --- */

const picked = () => rows[Number(digits) - 1];

function showTyped() {
  $("typed").textContent = digits && (picked() ? `${digits}: ${picked().answer.text} (Enter)` : `${digits}: there is no such number`);
  for (const row of rows) row.button.classList.toggle("picked", digits !== "" && row === picked());
  if (digits && $("all").open) picked()?.button.scrollIntoView({ block: "nearest" });
}

function typeNothing() {
  clearTimeout(timer);
  digits = "";
  showTyped();
}

/* A key that the list may want; whether it was one. */
export function typed(key) {
  if (!rows.length) return false;
  if (/^\d$/.test(key)) {
    digits = (digits + key).slice(-4).replace(/^0+/, "");
    showTyped();
    clearTimeout(timer);
    timer = setTimeout(typeNothing, KEPT);
    return true;
  }
  if (!digits) return key === "ArrowDown" || key === "ArrowUp" ? step(key === "ArrowDown" ? 1 : -1) : false;
  if (key === "Backspace") {
    digits = digits.slice(0, -1);
    showTyped();
  } else if (key === "Escape") typeNothing();
  else if (key === "Enter") {
    const row = picked();
    typeNothing();
    if (row && !row.button.disabled) give(row.answer);
  } else return false;
  return true;
}

const offered = () => rows.filter(({ item }) => !item.hidden);

function step(by) {
  $("all").open = true;
  const there = offered(), at = there.findIndex(({ button }) => button === document.activeElement);
  const to = at < 0 ? (by > 0 ? 0 : there.length - 1) : Math.max(0, Math.min(there.length - 1, at + by));
  there[to]?.button.focus();
  return there.length > 0;
}

$("all").open = setting("list", false);
$("all").addEventListener("toggle", () => remember("list", $("all").open));

function filter() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (answer) => left(answer) !== null && words.every((word) => answer.text.toLowerCase().includes(word));
  for (const { answer, item } of rows) item.hidden = !fits(answer);
  for (const { item, rows: those } of heads) item.hidden = begun > 0 || those.every((row) => row.item.hidden);
  const there = offered(), number = there.length;
  for (const { button } of rows) button.tabIndex = button === there[0]?.button ? 0 : -1; // one stop for Tab, then arrows
  $("all").hidden = !rows.length;
  $("all-title").textContent = number === 1 ? "1 answer in words" : `All ${number} answers in words`;
}

$("filter").addEventListener("input", filter);
$("filter").addEventListener("keydown", (event) => {
  const there = offered();
  if (event.key === "ArrowDown") there[0]?.button.focus();
  else if (event.key === "Enter" && there.length === 1 && !there[0].button.disabled) give(there[0].answer);
  else if (event.key === "Escape") {
    $("filter").value = "";
    filter();
    $("asked").focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
});

export function startFilter() {
  if ($("filter-row").hidden) return false;
  $("all").open = true;
  $("filter").focus();
  return true;
}

/* --- what agents think --- */

/* One agent's shares as bars behind the words; several agents' below them. Answers that begin alike have one together. */
export function showShares(advices) {
  const shared = new Set(heads.flatMap(({ rows: those }) => those));
  const places = [
    ...rows.filter((row) => !shared.has(row)).map(({ answer, button }) => [answer.actions[0], button]),
    ...heads.map(({ first, item }) => [first, item]),
  ];
  for (const [action, place] of places) {
    place.querySelectorAll(".bar, .share, .shares").forEach((old) => old.remove());
    place.classList.remove("best", "compared");
    const told = advices.map((advice) => advice.answers.find((one) => one.action === action));
    if (advices.length === 1) showShare(place, told[0], advices[0]);
    else if (advices.length > 1) {
      place.classList.add("compared");
      place.append(make("span", "shares", ...told.map((one, i) => compared(one, advices[i], i))));
    }
  }
}

/* A bar, and words for share and estimate; agents that only choose have neither. */
function showShare(one, told, advice) {
  const bar = make("span", "bar"), isBest = told !== undefined && told.action === advice.best;
  bar.style.width = `${100 * (told?.share ?? (isBest ? 1 : 0))}%`;
  one.prepend(bar);
  one.classList.toggle("best", isBest);
  const words = make("span", "share", shareWords(told, isBest));
  if (typeof told?.estimate === "number") words.append(make("small", "", estimated(told.estimate, advice)));
  one.append(words);
}

const shareWords = (told, isBest) => (typeof told?.share === "number" ? estimateWords(told.share, "share") : isBest ? "best" : "–");

function compared(told, advice, i) {
  const bar = make("span"), isBest = told !== undefined && told.action === advice.best;
  bar.style.width = `${100 * (told?.share ?? (isBest ? 1 : 0))}%`;
  const words = make("span", "told", shareWords(told, isBest));
  if (typeof told?.estimate === "number") words.append(`, ${estimated(told.estimate, advice)}`);
  return make("span", "compare", make("b", "", letter(i)), make("i", "", bar), words);
}

export const letter = (i) => String.fromCharCode(65 + i);

const estimated = (number, advice) => estimateWords(number, advice.estimated);
