/* What is pressed of the places on the board: large enough for a finger or a mouse, and never one on another. */

import { across, along, around } from "./geometry.js";

const WANTED = { finger: 40, mouse: 24 }; // CSS pixels, where there is room
const LEAST = { finger: 39.5, mouse: 16 }; // places that are closer to each other than that are pressed as one

/* Boxes for places, {outline, entries, ...}, of a picture whose units are `scale` CSS pixels. Those that can't be told apart become one place with the answers of both. */
export function withHits(places, pointer, scale) {
  let marks = places;
  for (;;) {
    const hits = separated(marks, WANTED[pointer] / scale);
    const [one, other] = closest(marks, hits, LEAST[pointer] / scale);
    if (!one) return marks.map((mark, i) => ({ ...mark, hit: hits[i] }));
    marks = [...marks.filter((mark) => mark !== one && mark !== other), together(one, other)];
  }
}

/* Each place's box, at least so large; where two would meet, the border is half way between them. */
function separated(marks, wanted) {
  const hits = marks.map(({ outline }) => grown(outline, wanted));
  for (let i = 0; i < hits.length; i++) {
    for (let j = 0; j < i; j++) {
      if (meet(hits[i], hits[j]) && !within(marks[i].outline, marks[j].outline) && !within(marks[j].outline, marks[i].outline)) {
        part(hits[i], hits[j], marks[i].outline, marks[j].outline);
      }
    }
  }
  return hits;
}

function grown({ x, y, width, height }, wanted) {
  const wide = Math.max(width, wanted), high = Math.max(height, wanted);
  return { x: x + (width - wide) / 2, y: y + (height - high) / 2, width: wide, height: high };
}

const meet = (one, other) => across(one, other) > 0 && along(one, other) > 0;

/* Whether a place lies in another one: then it is above it. */
const within = (inner, outer) => across(inner, outer) > 0.85 * inner.width && along(inner, outer) > 0.85 * inner.height;

function part(hit, next, one, other) {
  const beside = across(one, other) - along(one, other) < 0; // they overlap less from side to side
  const [from, size] = beside ? ["x", "width"] : ["y", "height"];
  const [low, high, below, above] = one[from] + one[size] / 2 < other[from] + other[size] / 2 ? [hit, next, one, other] : [next, hit, other, one];
  const border = (below[from] + below[size] + above[from]) / 2, end = high[from] + high[size];
  low[size] = Math.min(low[size], border - low[from]);
  high[size] = Math.min(high[size], end - border);
  high[from] = end - high[size];
}

/* Two places to be pressed as one: the smallest that is too small, and the one nearest to it. */
function closest(marks, hits, least) {
  const side = ({ width, height }) => Math.min(width, height);
  const small = hits.map((_, i) => i).filter((i) => side(hits[i]) < least).sort((i, j) => side(hits[i]) - side(hits[j]));
  for (const i of small) {
    const others = hits.map((_, j) => j).filter((j) => j !== i && distance(marks[i].outline, marks[j].outline) < 2 * least);
    others.sort((j, k) => distance(marks[i].outline, marks[j].outline) - distance(marks[i].outline, marks[k].outline));
    if (others.length) return [marks[i], marks[others[0]]];
  }
  return [null, null];
}

function distance(one, other) {
  return Math.hypot(one.x + one.width / 2 - other.x - other.width / 2, one.y + one.height / 2 - other.y - other.height / 2);
}

function together(one, other) {
  const outline = { ...one.outline, ...around([one.outline, other.outline]) };
  const entries = [...one.entries, ...other.entries.filter((entry) => !one.entries.includes(entry))];
  return { ...one, outline, box: outline, entries };
}
