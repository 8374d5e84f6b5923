/* Boxes, {x, y, width, height}: where they are, how far they overlap, and what is around them. */

/* An element's box in the units of its picture: `origin` is the picture's rectangle on the page, `scale` CSS pixels a unit. */
export function boxOf(element, origin, scale) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: (left - origin.left) / scale, y: (top - origin.top) / scale, width: width / scale, height: height / scale };
}

/* How far two boxes overlap from side to side, and from top to bottom; below 0 they are apart. */
export const across = (one, other) => Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
export const along = (one, other) => Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);

/* The smallest box around some. */
export function around(boxes) {
  const x = Math.min(...boxes.map((box) => box.x)), y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width)), bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

export const clamped = (number, low, high) => Math.max(low, Math.min(number, high));
