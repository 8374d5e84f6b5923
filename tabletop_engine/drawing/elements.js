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

/* Words, with their shape before the owners that are named in them, by name or by seat, and in no longer word. */
export function named(words, owners) {
  const namesOf = ({ name, seat }) => [name, seat, ...(name === "You" ? ["yours"] : [])];
  const names = owners.flatMap(namesOf).map((name) => name.replace(/[^\w ]/g, "\\$&")).sort((a, b) => b.length - a.length);
  if (!names.length) return [words];
  return words.split(new RegExp(`(?<!\\w)(${names.join("|")})(?!\\w)`)).flatMap((part, i) => {
    const owner = i % 2 ? owners.find((one) => namesOf(one).includes(part)) : null;
    return owner ? [make("span", "named", token(owner, "small"), part)] : [part];
  });
}
