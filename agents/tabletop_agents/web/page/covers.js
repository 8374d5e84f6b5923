/* Pictures for the choice of the game, put together from the game's own drawing. */

import { imageOf } from "./pictures.js";

const use = (id, x, y, scale = 1) => `<use href="#tabletop-${id}" transform="translate(${x} ${y})scale(${scale})"/>`;
const made = new Map();

function field(x, colour, crop) {
  return `<rect x="${x}" y="20" width="132" height="160" rx="10" fill="${colour}" stroke="#c3ced7"/>` + use(`crop-${crop}`, x + 34, 140, 1.5);
}

function cloud(x, y, kind, drops, scale) {
  const shadow = `<g opacity="0.2">${use("cloud-shadow", x + 4, y + 6, scale)}</g>`;
  return shadow + use(`cloud-${kind}`, x, y, scale) + drops.map(([owner, aside]) => use(`owner-${owner}`, x + aside, y + 4, 1.1)).join("");
}

const PETRICHOR = [
  field(-62, "#ede1d6", "coffee"), field(78, "#e4f2d8", "grass"), field(218, "#faf0cf", "wheat"), field(358, "#f1eef7", "cotton"),
  use("owner-0", 176, 144, 1.3), use("owner-1", 316, 144, 1.3), use("owner-0", 40, 146, 1.3),
  use("weather-sun", 432, 46, 2.6),
  cloud(40, 78, "light", [[1, 0]], 1), cloud(158, 66, "light", [[0, -16], [1, 18]], 1.1), cloud(296, 76, "thunder", [[0, -2], [1, 28]], 1.2), cloud(424, 112, "light", [[0, 0]], 0.8),
].join("");

const GROUNDS = ["snow", "snow", "rock", "rock", "meadow", "meadow", "meadow", "flowers", "flowers", "swamp", "grain", "grain"];
const PIECES = [
  [0, 2, "piece-small_tree"], [1, 1, "piece-big_tree"], [2, 3, "piece-sprout"], [3, 1, "piece-small_tree"], [4, 2, "piece-big_tree"], [4, 0, "piece-bush"], [5, 3, "piece-small_tree"],
  [6, 1, "piece-lake"], [6, 2, "piece-big_tree"], [7, 0, "piece-sprout"], [8, 2, "piece-buds"], [9, 1, "piece-big_tree"], [9, 3, "piece-lake"], [10, 2, "piece-small_tree"], [11, 1, "piece-big_tree"],
  [2, 0, "piece-small_tree"], [5, 0, "piece-sprout"], [10, 0, "piece-bush"], [7, 3, "piece-big_tree"], [1, 3, "piece-sprout"],
];

const EVERGREEN = [
  `<path d="M-20 38Q240 6 500 38V240H-20Z" fill="#b9c8d3"/><path d="M-20 36Q240 4 500 36" fill="none" stroke="#e0a61c" stroke-width="7"/>`,
  use("sun", 240, 22, 1.1),
  ...GROUNDS.flatMap((ground, x) => [0, 1, 2, 3].map((y) => use(`ground-${(x * 7 + y * 3) % 11 === 5 ? "ravine" : ground}`, 20 + 40 * x, 70 + 40 * y))),
  ...PIECES.filter(([x, y]) => (x * 7 + y * 3) % 11 !== 5).map(([x, y, piece]) => use(piece, 20 + 40 * x, 70 + 40 * y, 1.05)),
].join("");

const COVERS = { petrichor: PETRICHOR, evergreen: EVERGREEN };

/* An image's address; the drawings are the game's `<defs>` in a document. A game without a cover shows its owners' shapes. */
export function gamePicture(name, drawings) {
  if (!made.has(name)) {
    const inside = COVERS[name] ?? [0, 1, 2, 3].map((owner) => use(`owner-${owner}`, 120 + 80 * owner, 100, 2)).join("");
    const svg = drawings.replace(/<svg[^>]*>/, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 200" width="960" height="400">`);
    made.set(name, imageOf(svg.replace(/<\/svg>\s*$/, `<rect width="480" height="200" fill="#eaf0f4"/>${inside}</svg>`)));
  }
  return made.get(name);
}
