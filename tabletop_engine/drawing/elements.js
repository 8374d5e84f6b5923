/* Elements of a page, for the replay's page and the games' page. Strings of others only ever become text. */

export const $ = (id) => document.getElementById(id);

/* An HTML element; strings among its children become text, never markup. */
export function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const sentence = (words) => words && words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?…]$/.test(words) ? "" : ".");

/* An owner's shape, as the board has it. */
export function token(owner, className = "token") {
  const use = draw("use", { href: `#${owner.shape}` });
  return draw("svg", { class: className, viewBox: "-17 -18 34 37", "aria-hidden": "true" }, use);
}

/* Words, with their shape before the owners that are named in them, and in no longer word; people by their names. */
export function named(words, owners) {
  const seats = owners.map(({ seat }) => seat.replace(/[^\w ]/g, "\\$&")).sort((a, b) => b.length - a.length);
  if (!seats.length) return [words];
  return words.split(new RegExp(`\\b(${seats.join("|")})\\b`)).flatMap((part, i) => {
    const owner = i % 2 ? owners.find(({ seat }) => seat === part) : null;
    return owner ? [make("span", "named", token(owner, "small"), ["you", "person"].includes(owner.who) ? owner.name : part)] : [part];
  });
}
