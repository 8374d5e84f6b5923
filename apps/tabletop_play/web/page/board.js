/* The board: the project's drawing, and above it, in a second picture of the same size, the places to click. */

import { $, draw, make } from "./dom.js";
import { across, along, boxOf, clamped } from "./geometry.js";
import { withHits } from "./hits.js";
import { arrange, kindOfScreen, makeLegible, onFold, unfold } from "./layout.js";
import { openMenu, closeMenu } from "./menu.js";

const SMALL = 60; // in the picture's units: such places lie close together, so their lines are thin
const EDGE = 8; // CSS pixels around places that are brought into sight
const FAR = 24; // CSS pixels: a shorter way needs no arrow
const MOST_ARROWS = 6;
const ROW = 30; // places whose tops differ by less are in one row

let shown = []; // the parts of the board, to know which are new
let other = null; // {parts, className} of a board that is shown in place of it: as it would be, or as it was
let marks = []; // {group, box, entries}
let said = ""; // what of it the page says elsewhere
let sheet = null;
let marked = null; // what the places were made from, to make them anew: the arguments of `markPlaces`
let shares = null; // that are shown, by entry
let arrangedFor = 0; // the width
let flights = []; // the animations of pieces that move

const still = matchMedia("(prefers-reduced-motion: reduce)");
const MOVE = { duration: 300, easing: "ease-out" };

/* Where each drawing is used in a picture: by its name, [{piece, left, top}]. */
function piecesOf(svg) {
  const pieces = new Map();
  for (const piece of svg?.querySelectorAll("use") ?? []) {
    const { left, top, width, height } = piece.getBoundingClientRect(), name = piece.getAttribute("href");
    if (!width) continue; // not shown on this screen
    if (!pieces.has(name)) pieces.set(name, []);
    pieces.get(name).push({ piece, left, top, middle: [left + width / 2, top + height / 2] });
  }
  return pieces;
}

/* Let pieces that are elsewhere now come from where the nearest one of their kind is gone. Returns the ways, [from, to]. */
function movePieces(before, svg) {
  flights = [];
  const ways = [];
  for (const [name, pieces] of piecesOf(svg)) {
    const there = (one, others) => others.some(({ left, top }) => Math.hypot(left - one.left, top - one.top) < 1);
    const old = before.get(name) ?? [], gone = old.filter((one) => !there(one, pieces));
    for (const one of pieces.filter((piece) => !there(piece, old))) {
      if (!gone.length) break;
      const far = ({ left, top }) => Math.hypot(left - one.left, top - one.top);
      const from = gone.reduce((best, other) => (far(other) < far(best) ? other : best));
      gone.splice(gone.indexOf(from), 1);
      const { a: scale } = one.piece.parentNode.getScreenCTM();
      ways.push([from.middle, one.middle]);
      if (!still.matches) flights.push(one.piece.animate({ translate: [`${(from.left - one.left) / scale}px ${(from.top - one.top) / scale}px`, "0 0"] }, MOVE));
    }
  }
  return ways;
}

/* Arrows along the longest ways. They stay until the board is another one. */
function showArrows(ways, svg) {
  const { left, top } = svg.getBoundingClientRect(), scale = scaleOf(svg);
  const long = ways.map(([from, to]) => ({ from, to, far: Math.hypot(to[0] - from[0], to[1] - from[1]) })).filter(({ far }) => far > FAR);
  const arrows = long.sort((a, b) => b.far - a.far).slice(0, MOST_ARROWS).map(({ from, to, far }) => {
    const angle = (180 / Math.PI) * Math.atan2(to[1] - from[1], to[0] - from[0]), x = (from[0] - left) / scale, y = (from[1] - top) / scale;
    return draw("path", { d: `M0 0H${far / scale - 3}m-9 -7l9 7l-9 7`, transform: `translate(${x} ${y})rotate(${angle})` });
  });
  if (arrows.length) sheet.append(draw("svg", { id: "arrows", viewBox: svg.getAttribute("viewBox"), "aria-hidden": "true" }, ...arrows));
}

/* Measure with all pieces where they land: one on its way would make the box of its place as large as the way. */
function landed(measure) {
  const flying = flights.filter(({ playState }) => playState === "running").map((flight) => [flight, flight.currentTime]);
  for (const [flight] of flying) flight.currentTime = MOVE.duration;
  const measured = measure();
  for (const [flight, time] of flying) flight.currentTime = time;
  return measured;
}

/* Show a board, given as parts of markup from the server's own drawing. `asked` is said elsewhere on the page.

later: what led to it is shown first; `endMoments` brings it.
*/
export function showBoard(parts, numbers, label, animated = false, asked = "", later = false) {
  const board = numbers.map((number) => parts[number]);
  if (!sheet) {
    const picture = make("div", "picture");
    picture.setAttribute("role", "img");
    sheet = make("div", "sheet", picture);
    $("board").replaceChildren(sheet);
    fitting.observe(sheet);
  }
  clearMarks();
  $("board").classList.remove("stale");
  sheet.firstElementChild.setAttribute("aria-label", label);
  if (later && shown.length) {
    other = { parts: other?.parts ?? shown, className: "" };
    [shown, said] = [board, asked];
    return;
  }
  const moves = animated && shown.length > 0 && !still.matches;
  const before = moves ? piecesOf(sheet.querySelector(".picture svg")) : null;
  const known = animated ? markupOf(shown) : new Set();
  [shown, other, said] = [board, null, asked];
  const svg = put(known);
  if (before) movePieces(before, svg);
}

/* Show a board as it would be; what differs is drawn as a ghost. null: the board as it is.

offers: the same places are offered on it.
*/
export function showGhost(parts, numbers, offers = false) {
  if (!numbers && other?.className !== "ghost") return;
  if (!offers) clearMarks();
  other = numbers ? { parts: numbers.map((number) => parts[number]), className: "ghost" } : null;
  putAgain();
}

/* Show the board as it was when somebody's turn ended. Pieces move there, with arrows. */
export function showMoment(parts, numbers) {
  if (!sheet) return;
  clearMarks();
  const before = piecesOf(sheet.querySelector(".picture svg")), known = markupOf(other?.parts ?? shown);
  other = { parts: numbers.map((number) => parts[number]), className: "moment" };
  const svg = put(known);
  showArrows(movePieces(before, svg), svg);
}

/* The board as it is now. What the last turn changed stays marked, and all that was not shown. */
export function endMoments() {
  if (!other || other.className === "ghost") return;
  const { parts } = other;
  other = null;
  if (parts.join() !== shown.join()) put(markupOf(parts), "moment");
}

function drawn(parts) {
  const holder = document.createElement("template");
  holder.innerHTML = parts.join("");
  return holder.content.firstElementChild;
}

/* All that a board has, down to its smallest pieces. */
const markupOf = (parts) => new Set(parts.length ? [...drawn(parts).querySelectorAll("*")].map((one) => one.outerHTML) : []);

/* Mark what is not known: of a panel only the pieces that have changed. */
function freshen(element, known, className) {
  if (known.has(element.outerHTML) || element.localName === "title") return;
  if (element.localName === "g" && [...element.querySelectorAll("*")].some((one) => known.has(one.outerHTML))) for (const one of element.children) freshen(one, known, className);
  else if (element.localName !== "rect") element.classList.add(className); // that would be a panel's ground
}

/* The picture of the parts that are shown; what is not known, if anything is, is marked. */
function put(known, className = other?.className || "fresh") {
  const parts = other?.parts ?? shown, svg = drawn(parts);
  if (other?.className === "ghost") known = markupOf(shown);
  for (const element of svg.children) {
    if (said && element.getAttribute("aria-label") === said) {
      element.classList.add("said");
      if (element.previousElementSibling?.matches("use")) element.previousElementSibling.classList.add("said"); // of whom
    } else if (known.size) freshen(element, known, className);
  }
  svg.querySelector(":scope > title")?.remove(); // it would pop up wherever the mouse rests
  svg.setAttribute("aria-hidden", "true"); // to who can't see it, the board is its label
  $("arrows")?.remove();
  sheet.firstElementChild.replaceChildren(svg);
  arrangedFor = $("board").clientWidth;
  arrange(svg, arrangedFor);
  makeLegible(svg);
  const { width, height } = svg.viewBox.baseVal;
  document.documentElement.style.setProperty("--shape", (width / height).toFixed(2)); // a window's height decides how wide it can be
  return svg;
}

/* Once more, for another size of the window, or with other parts folded away. */
function putAgain() {
  if (!sheet || !shown.length) return;
  const again = marked, badges = shares, focused = marks.findIndex(({ group }) => group === document.activeElement);
  put(new Set());
  if (again) markPlaces(...again);
  if (again && badges) showBadges(badges);
  if (focused >= 0) focusMark(marks[focused] ?? marks[0]);
}

onFold(putAgain);
const fitting = new ResizeObserver(() => {
  if ($("board").clientWidth !== arrangedFor) putAgain();
});

export function clearBoard() {
  closeMenu();
  fitting.disconnect();
  sheet = other = null;
  shown = [];
  marks = [];
  $("board").replaceChildren();
}

/* The board as a document of its own, with the drawings that it refers to. */
export function boardDocument() {
  const drawings = $("drawings").querySelector("defs").outerHTML;
  return [shown[0], drawings, ...shown.slice(1)].join("");
}

/* --- places --- */

/* The element at a path of (name, value) pairs, from outer to inner; of several, such as a card and its number in a list, the largest. */
function find(root, path) {
  if (!path.length || !path.every(([name]) => /^[a-z-]+$/.test(name))) return null;
  const found = [...root.querySelectorAll(path.map(([name, value]) => `[data-${name}="${CSS.escape(value)}"]`).join(" "))];
  return found.length > 1 ? found.reduce((one, other) => (areaOf(other) > areaOf(one) ? other : one)) : (found[0] ?? null);
}

function areaOf(element) {
  const { width, height } = element.getBoundingClientRect();
  return width * height;
}

/* A drawing of its own of what lies at a place; null if nothing is seen there. */
export function pictureOf(path) {
  const element = sheet && find(sheet.querySelector("svg"), path);
  if (!element || isFolded(element)) return null;
  const { x, y, width, height } = element.getBBox(), copy = element.cloneNode(true);
  for (const name of ["transform", "display"]) copy.removeAttribute(name);
  copy.querySelector("title")?.remove();
  for (const one of [copy, ...copy.querySelectorAll("*")]) for (const name of Object.keys(one.dataset)) delete one.dataset[name]; // there is one such place
  return draw("svg", { viewBox: `${x - 1} ${y - 1} ${width + 2} ${height + 2}`, width, height, "aria-hidden": "true" }, copy);
}

const isFolded = (element) => !element.getBoundingClientRect().width;

/* Whether answers are only at places that are folded away; these parts are unfolded then. */
function unfoldFor(svg, entries) {
  const folds = entries.filter(({ places }) => places.length).flatMap(({ places }) => {
    const there = places.map((path) => find(svg, path)).filter(Boolean);
    return there.length && there.every(isFolded) ? [there[0].closest("[data-fold]") ?? there[0].querySelector("[data-fold]")] : [];
  }).filter(Boolean).map((element) => element.dataset.fold);
  for (const fold of folds) unfold(fold);
  return folds.length > 0;
}

/* Places in reading order; what lies within another comes after it, so above it. */
const inOrder = (a, b) =>
  Math.abs(a.box.y - b.box.y) > ROW ? a.box.y - b.box.y : a.box.x - b.box.x || b.box.width * b.box.height - a.box.width * a.box.height;

const kindOf = (path) => path.map(([name]) => name).join(" ");

/* Make places clickable. entries: [{key, words, places}], the closest place first; choose(key, at once) is called for the one that is picked.

hover(keys) is told which entries the pointer or the focus is at; [] when it leaves.
*/
export function markPlaces(entries, choose, hover = () => {}) {
  clearMarks();
  if (!sheet?.querySelector("svg")) return;
  marked = [entries, choose, hover];
  if (unfoldFor(sheet.querySelector("svg"), entries)) put(new Set());
  const svg = sheet.querySelector("svg"), scale = scaleOf(svg);
  if (!scale) return;
  const pointer = kindOfScreen(arrangedFor) === "desk" ? "mouse" : "finger";
  marks = withHits(landed(() => placesOf(entries, svg, scale)), pointer, scale).sort(inOrder);
  if (!marks.length) return;
  const layer = draw("svg", { id: "marks", viewBox: svg.getAttribute("viewBox"), role: "group", "aria-label": "Places on the board" });
  for (const mark of marks) layer.append(drawMark(mark, mark === marks[0], choose, hover));
  layer.addEventListener("keydown", moveFocus);
  sheet.append(layer);
  if (pointer === "finger") keepInSight();
}

const scaleOf = (svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;

/* The closest place of each entry that there is; others of that kind are as close, such as dice. What lies around it is no place. */
function placesOf(entries, svg, scale) {
  const found = new Map(); // by element
  for (const entry of entries) {
    let closest = "";
    for (const path of entry.places) {
      const element = find(svg, path);
      if (!element || isFolded(element)) continue;
      closest ||= kindOf(path);
      if (kindOf(path) !== closest) continue;
      if (!found.has(element)) found.set(element, { path, entries: [] });
      if (!found.get(element).entries.includes(entry)) found.get(element).entries.push(entry);
    }
  }
  const origin = svg.getBoundingClientRect();
  return [...found].map(([element, mark]) => outlined({ ...mark, box: boxOf(element, origin, scale) }));
}

/* Where the board is longer than the screen, what can be answered is seen, above the sheet with the question: all, or the first. */
function keepInSight() {
  const dock = $("dock").getBoundingClientRect(), end = (dock.top > innerHeight / 4 ? Math.min(innerHeight, dock.top) : innerHeight) - EDGE;
  const offered = marks.filter(({ group }) => !group.matches(".chosen"));
  const boxes = offered.map(({ group }) => group.querySelector(".hit").getBoundingClientRect());
  if (!boxes.length) return;
  const first = Math.min(...boxes.map(({ top }) => top)), last = Math.max(...boxes.map(({ bottom }) => bottom));
  let by = 0;
  if (last - first > end - EDGE) by = boxes.some(({ top, bottom }) => top >= EDGE && bottom <= end) ? 0 : first - EDGE;
  else if (first < EDGE) by = first - EDGE;
  else if (last > end) by = last - end;
  if (by) scrollBy({ top: by, behavior: "instant" });
}

function outlined(mark) {
  const { box } = mark, small = Math.min(box.width, box.height) < SMALL, margin = small ? 2.5 : 4; // beside the piece, not on it
  const outline = { x: box.x - margin, y: box.y - margin, width: box.width + 2 * margin, height: box.height + 2 * margin, rx: small ? 5 : 8 };
  return { ...mark, small, outline };
}

function drawMark(mark, isFirst, choose, hover) {
  const { entries, path, small, outline, hit } = mark, chosen = entries.every((one) => one.chosen);
  const words = entries.length > 1 ? `${entries.length} answers: ${entries.map((one) => one.words).join("; ")}` : entries[0].words;
  mark.group = draw(
    "g",
    {
      class: `mark${small ? " small" : ""}${chosen ? " quiet chosen" : ""}`,
      "data-place": path.map(([name, value]) => `${name}:${value}`).join(" "),
      ...(entries.every(({ key }) => Number.isInteger(key)) ? { "data-actions": entries.map(({ key }) => key).join(" ") } : {}),
      role: "button", tabindex: isFirst ? 0 : -1, "aria-label": words, ...(entries.length > 1 ? { "aria-haspopup": "menu" } : {}),
    },
    draw("title", {}, words),
    draw("rect", { class: "hit", ...hit, rx: 8 }),
    draw("rect", { class: "halo", ...outline }),
    draw("rect", { class: "line", ...outline }),
  );
  const keys = entries.map(({ key }) => key);
  const press = (isHasty) => {
    if (entries.length === 1) choose(entries[0].key, isHasty);
    else openMenu(mark.group, entries.map((one) => ({ words: one.words, act: () => choose(one.key) })));
  };
  mark.group.addEventListener("click", () => press(false));
  mark.group.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    if (event.key === "Enter" && $("typed").textContent) return; // a number that was typed comes first
    event.preventDefault();
    event.stopPropagation();
    press(event.key === "Enter");
  });
  mark.group.addEventListener("pointerenter", () => hover(keys));
  mark.group.addEventListener("pointerleave", () => hover([]));
  mark.group.addEventListener("focus", () => hover(keys));
  mark.group.addEventListener("blur", () => hover([]));
  return mark.group;
}

/* say(title) gives the words for a click beside the places; title is what lies there. They stand there until the next press. */
export function onBeside(say) {
  $("board").addEventListener("click", ({ target, clientX, clientY }) => {
    if (target.closest(".mark") || !target.closest(".picture")) return;
    const holder = target.closest(":is(g, use, rect, path):has(> title)");
    const words = say(holder?.querySelector(":scope > title").textContent ?? "");
    $("note").textContent = words;
    const { width, height } = $("note").getBoundingClientRect();
    $("note").style.left = `${clamped(clientX, EDGE, innerWidth - width - EDGE)}px`;
    $("note").style.top = `${clientY + height + 24 > innerHeight ? clientY - height - 12 : clientY + 12}px`;
  });
}

addEventListener("pointerdown", () => ($("note").textContent = ""), true);

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/* Arrows go to the nearest place on that side; one place at a time can be reached by Tab. */
function moveFocus(event) {
  const at = marks.findIndex(({ group }) => group === document.activeElement);
  if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
  let to = null;
  if (event.key === "Home") to = marks[0];
  else if (event.key === "End") to = marks.at(-1);
  else if (DIRECTIONS[event.key]) to = neighbour(marks[at], DIRECTIONS[event.key]);
  else return;
  event.preventDefault();
  event.stopPropagation();
  if (to) focusMark(to);
}

function focusMark(to) {
  for (const { group } of marks) group.setAttribute("tabindex", group === to?.group ? 0 : -1);
  to?.group.focus({ preventScroll: true });
}

function neighbour(from, [right, down]) {
  const centre = ({ box }) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = centre(from);
  let best = null, least = Infinity;
  for (const mark of marks) {
    const [dx, dy] = [centre(mark)[0] - x, centre(mark)[1] - y];
    const along = dx * right + dy * down, aside = Math.abs(dx * down) + Math.abs(dy * right);
    const cost = along + 2.5 * aside;
    if (along > 1 && cost < least) [best, least] = [mark, cost];
  }
  return best;
}

export function clearMarks() {
  closeMenu();
  $("note").textContent = "";
  marks = [];
  marked = shares = null;
  $("marks")?.remove();
}

/* Light the places of these entries up. */
export function light(keys) {
  for (const { group, entries } of marks) group.classList.toggle("lit", entries.some(({ key }) => keys.includes(key)));
}

/* Percents at the places, above all lines; by: the shares by entry. */
export function showBadges(by) {
  $("badges")?.remove();
  shares = by;
  const shared = marks.map(({ box, entries }) => ({
    box, share: entries.reduce((sum, { key }) => sum + (by.get(key) ?? 0), 0),
  })).filter(({ share }) => share >= 0.005);
  if (!shared.length) return;
  const svg = sheet.querySelector("svg"), scale = scaleOf(svg), origin = svg.getBoundingClientRect();
  const boxes = (selector) => [...svg.querySelectorAll(selector)].map((element) => boxOf(element, origin, scale));
  const [labels, icons] = landed(() => [boxes("[aria-label]"), boxes("use")]), places = shared.map(({ box }) => box);
  const badges = shared.map(({ box, share }) => badge(box, share, labels, [...icons, ...places.filter((other) => other !== box)]));
  $("marks").append(draw("g", { id: "badges", "aria-hidden": "true" }, ...badges));
}

/* Where a place is in the picture: {sheet, viewBox, box, isDesk}; null if it can't be seen. */
export function whereIs(path) {
  const svg = sheet?.querySelector("svg"), element = svg && find(svg, path);
  if (!element || isFolded(element)) return null;
  return { sheet, viewBox: svg.getAttribute("viewBox"), box: boxOf(element, svg.getBoundingClientRect(), scaleOf(svg)), isDesk: kindOfScreen(arrangedFor) === "desk" };
}

/* How much of a box others cover. */
const covered = (box, others) => others.reduce((sum, other) => sum + Math.max(0, across(box, other)) * Math.max(0, along(box, other)), 0);

/* On the upper edge of a place; where a label is there, on another edge or in the middle. On a small place it is smaller. */
function badge(place, share, labels, others) {
  const words = `${Math.round(100 * share)} %`;
  const width = 12 + 9 * words.length, height = 22, scale = clamped(place.width / 90, 0.74, 1);
  const wide = width * scale, high = height * scale, most = sheet.querySelector("svg").viewBox.baseVal.width - 2;
  const upper = place.y - 16 * scale, lower = place.y + place.height - 6 * scale, middle = place.y + (place.height - high) / 2;
  const spots = [[0.5, upper], [0.5, middle], [0.5, lower], [1, upper], [0, upper], [1, lower], [0, lower]].map(([part, top]) => ({
    x: clamped(place.x + part * (place.width - wide), 2, most - wide), y: clamped(top, 2, most - high), width: wide, height: high,
  }));
  const costs = spots.map((spot) => 100 * covered(spot, labels) + covered(spot, others)); // a label counts most
  const spot = covered(spots[0], labels) ? spots[costs.indexOf(Math.min(...costs))] : spots[0], { x, y } = spot;
  labels.push(spot); // the next ones leave it free
  const plate = draw("rect", { width, height, rx: 11, "fill-opacity": (0.75 + 0.25 * share).toFixed(2) });
  const text = draw("text", { x: width / 2, y: 16.5 }, words);
  return draw("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})scale(${scale.toFixed(2)})`, opacity: (0.7 + 0.3 * share).toFixed(2) }, plate, text);
}
