/* The picture's parts, arranged for the screen, and its words made large enough to be read. The game says which parts there are. */

import { $, button, token } from "./dom.js";
import { across, along, around, boxOf, clamped } from "./geometry.js";

const GAP = 6; // CSS pixels between parts
const LEAST = 11; // CSS pixels that letters need
const APART = 2; // CSS pixels between enlarged words
const EM = 200; // of a word's outline, in its own units
const INSIDE = 0.9; // as much of what belongs to a part lies in it
const DESK = matchMedia("(min-width: 960px) and (min-height: 521px) and (not (pointer: coarse))");

let panes = {}; // by the kind of screen: [{boxes, most, owner, words}]
let owners = [];
const opened = new Set(); // of what is folded away
let changed = () => {};

export const kindOfScreen = (width) => (DESK.matches ? "desk" : width < 560 ? "phone" : "tablet");

/* The parts of the pictures that follow. */
export function usePanes(view) {
  [panes, owners] = [view.panes ?? {}, view.owners];
}

/* act() is done when something was folded or unfolded. */
export function onFold(act) {
  changed = act;
}

const foldOf = ({ owner, words }) => (owner === null ? words : `owner ${owner}`);

export function unfold(name) {
  opened.add(name);
}

/* --- parts --- */

/* Arrange a picture that was just put on the page, for this width. Its units are CSS pixels then. */
export function arrange(svg, width) {
  const chosen = panes[kindOfScreen(width)] ?? [];
  showFolds(chosen);
  if (!chosen.length || !width) return;
  const targets = [];
  let top = 0;
  for (const pane of chosen) {
    const fold = foldOf(pane), shown = !fold || opened.has(fold);
    const wide = pane.boxes.reduce((sum, box) => sum + box[2], 0);
    const scale = Math.min(pane.most, (width - GAP * (pane.boxes.length - 1)) / wide);
    let left = 0;
    for (const [x, y, w, h] of pane.boxes) {
      targets.push({ x, y, width: w, height: h, left, top, scale, fold, shown });
      left += w * scale + GAP;
    }
    if (shown) top += Math.max(...pane.boxes.map((box) => box[3])) * scale + GAP;
  }
  for (const change of plan(svg, targets)) change();
  const height = Math.max(1, top - GAP);
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) svg.setAttribute(name, value);
}

/* Where each element goes; all is measured before anything is moved. */
function plan(svg, targets) {
  const origin = svg.getBoundingClientRect(), scale = origin.width / svg.viewBox.baseVal.width, whole = svg.viewBox.baseVal.width;
  const changes = [];
  const place = (element) => {
    if (element.localName === "title" || element.localName === "defs") return;
    const box = boxOf(element, origin, scale), met = targets.filter((target) => common(target, box));
    // of parts that lie in each other, the smallest
    const home = met.filter((target) => share(target, box) >= INSIDE).sort((a, b) => a.width * a.height - b.width * b.height)[0];
    const isDivided = !home || met.some((target) => target !== home && share(home, target) >= 0.99 && share(box, target) >= INSIDE);
    if (element.localName === "rect" && isDivided) {
      changes.push(() => drawAround(element, box, box.width < 0.98 * whole ? met.filter(({ shown }) => shown) : []));
    } else if (!isDivided) {
      changes.push(() => move(element, home));
    } else if (met.length && element.localName === "g" && !element.hasAttribute("transform") && !element.hasAttribute("aria-label")) {
      [...element.children].forEach(place);
    } else if (box.width || box.height) {
      changes.push(() => element.setAttribute("display", "none"));
    }
  };
  [...svg.children].forEach(place);
  return changes;
}

/* What two boxes have in common; null: nothing. */
function common(one, other) {
  const width = across(one, other), height = along(one, other);
  return width >= 0 && height >= 0 ? { x: Math.max(one.x, other.x), y: Math.max(one.y, other.y), width, height } : null;
}

/* How much of the second box is in the first one; a line has no area. */
function share(one, box) {
  const both = common(one, box);
  if (!both) return 0;
  const { width, height } = both;
  return (box.width ? width / box.width : 1) * (box.height ? height / box.height : 1);
}

function move(element, { x, y, left, top, scale, fold, shown }) {
  if (!shown) {
    element.setAttribute("display", "none");
    element.dataset.fold = fold;
  }
  const to = `translate(${(left - x * scale).toFixed(2)} ${(top - y * scale).toFixed(2)})scale(${scale.toFixed(4)})`;
  element.setAttribute("transform", to + (element.getAttribute("transform") ?? ""));
}

/* A panel whose parts lie elsewhere now is drawn around all of them. */
function drawAround(rect, box, targets) {
  if (!targets.length) return rect.setAttribute("display", "none");
  const parts = targets.map((target) => {
    const { x, y, width, height } = common(target, box), { left, top, scale } = target;
    return { x: left + (x - target.x) * scale, y: top + (y - target.y) * scale, width: width * scale, height: height * scale };
  });
  const { x, y, width, height } = around(parts);
  for (const [name, value] of Object.entries({ x: x + 1, y, width: width - 2, height })) rect.setAttribute(name, value.toFixed(1));
}

/* A button for each part that is folded away. */
function showFolds(chosen) {
  const names = [...new Set(chosen.map(foldOf).filter(Boolean))];
  $("folds").hidden = !names.length;
  $("folds").replaceChildren(...names.map((name) => {
    const { owner, words } = chosen.find((pane) => foldOf(pane) === name), whose = owners[owner];
    const one = button(whose ? [token(whose), whose.name, " ", String(whose.points)] : words, () => {
      if (!opened.delete(name)) opened.add(name);
      changed();
      $("folds").querySelector(`[data-fold="${CSS.escape(name)}"]`).focus({ preventScroll: true });
    });
    one.dataset.fold = name;
    one.setAttribute("aria-expanded", opened.has(name));
    return one;
  }));
}

/* --- words --- */

/* Make words that are too small larger, where there is room, and leave out those that have none.

The shortest come first: numbers are looked at more often than names. Where most words of one kind have no room, such as the
names of tiles, all of them go. Every word can also be read in the title of its element.
*/
export function makeLegible(svg) {
  const words = [...svg.querySelectorAll("[aria-label]")].map((element) => ({ element, box: element.getBoundingClientRect() }))
    .filter(({ box }) => box.width).map((word) => ({ ...word, size: EM * word.element.getScreenCTM().a }));
  const small = words.filter(({ size }) => size < LEAST - 0.01).sort((a, b) => lettersOf(a) - lettersOf(b));
  if (!small.length) return;
  const boxes = (selector) => [...svg.querySelectorAll(selector)].map((element) => element.getBoundingClientRect()).filter(({ width }) => width);
  const icons = boxes("use"), frames = boxes("rect").sort((a, b) => a.width * a.height - b.width * b.height);
  const kinds = new Map();
  for (const word of small) {
    const kind = kindOf(word.element), spot = roomFor(word, words, icons, frames);
    if (!kinds.has(kind)) kinds.set(kind, []);
    kinds.get(kind).push({ word, spot });
    word.box = spot ?? new DOMRect();
  }
  const changes = [];
  for (const kind of kinds.values()) {
    const goes = kind.filter(({ spot }) => !spot).length > kind.length / 2;
    for (const { word, spot } of kind) changes.push(spot && !goes ? enlarged(word, spot) : () => leaveOut(word.element));
  }
  for (const change of changes) change();
}

const lettersOf = ({ element }) => element.getAttribute("aria-label").length;

/* Words of one kind are those at the same place of like things, such as the names of all tiles. */
function kindOf(element) {
  const above = element.parentElement, place = [...above.children].filter((one) => one.hasAttribute("aria-label")).indexOf(element);
  let holder = above;
  while (holder.localName === "g" && !Object.keys(holder.dataset).some((name) => name !== "fold")) holder = holder.parentElement;
  return `${Object.keys(holder.dataset)[0]} ${above === holder} ${place}`;
}

/* Where an enlarged word covers nothing that it didn't cover; null: nowhere. */
function roomFor({ element, box, size }, words, icons, frames) {
  const by = LEAST / size, width = box.width * by, height = box.height * by;
  const frame = frames.find((one) => one.left <= box.left + 1 && one.right >= box.right - 1 && one.top <= box.top + 1 && one.bottom >= box.bottom - 1);
  if (frame && (frame.width < width || frame.height < height)) return null;
  const near = (other) => other.right > box.left - width && other.left < box.right + width && other.bottom > box.top - height && other.top < box.bottom + height;
  const others = words.filter((word) => word.element !== element && word.box.width && near(word.box)).map((word) => word.box);
  const free = icons.filter((icon) => near(icon) && !overlaps(icon, box, 1));
  for (const down of [0.5, 1, 0]) for (const right of [0.5, 0, 1]) {
    let x = box.left + (box.width - width) * right, y = box.top + (box.height - height) * down;
    if (frame) [x, y] = [clamped(x, frame.left + 1, frame.right - width - 1), clamped(y, frame.top, frame.bottom - height)];
    const spot = new DOMRect(x, y, width, height);
    if (!others.some((other) => overlaps(other, spot, -APART)) && !free.some((icon) => overlaps(icon, spot, 1))) return spot;
  }
  return null;
}

const overlaps = (one, other, by) => across(one, other) > by && along(one, other) > by;

/* What moves the middle of the letters, in their own units, to the middle of the spot. */
function enlarged({ element, size }, spot) {
  const by = LEAST / size, own = element.getBBox(), x = own.x + own.width / 2, y = own.y + own.height / 2;
  const middle = new DOMPoint(spot.x + spot.width / 2, spot.y + spot.height / 2).matrixTransform(element.getScreenCTM().inverse());
  const to = `translate(${middle.x.toFixed(1)} ${middle.y.toFixed(1)})scale(${by.toFixed(4)})translate(${(-x).toFixed(1)} ${(-y).toFixed(1)})`;
  return () => element.setAttribute("transform", (element.getAttribute("transform") ?? "") + to);
}

/* An icon right before the words means nothing without them. */
function leaveOut(element) {
  element.setAttribute("display", "none");
  if (element.previousElementSibling?.localName === "use") element.previousElementSibling.setAttribute("display", "none");
}
