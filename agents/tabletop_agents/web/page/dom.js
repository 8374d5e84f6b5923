/* Small tools to build the document with. Strings of others only ever become text. */

export const $ = (id) => document.getElementById(id);

/* An HTML element; strings among its children become text, never markup. */
export function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

export function button(words, act, className = "") {
  const made = make("button", className, words);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/* Elements of forms that belong to their labels need ids that no other has. */
let made = 0;
export const newId = () => `made-${++made}`;

const SVG = "http://www.w3.org/2000/svg";

export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const sentence = (words) => words && words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?…]$/.test(words) ? "" : ".");

export const percent = (share) => (share > 0 && share < 0.001 ? "under\u00a00.1\u00a0%" : `${(100 * share).toFixed(1)}\u00a0%`);

/* An owner's shape, as the board has it. */
export function token(owner, className = "token") {
  const use = draw("use", { href: `#${owner.shape}` });
  return draw("svg", { class: className, viewBox: "-17 -18 34 37", "aria-hidden": "true" }, use);
}

/* Words, with their shape before the owners that are named in them, and in no longer word. */
export function named(words, owners) {
  const seats = owners.map(({ seat }) => seat.replace(/[^\w ]/g, "\\$&")).sort((a, b) => b.length - a.length);
  if (!seats.length) return [words];
  return words.split(new RegExp(`\\b(${seats.join("|")})\\b`)).flatMap((part, i) => {
    const owner = i % 2 ? owners.find(({ seat }) => seat === part) : null;
    return owner ? [make("span", "named", token(owner, "small"), part)] : [part];
  });
}

let lasting = ""; // what is wrong whatever succeeds

/* What went wrong, for a person; empty takes it away, but for what lasts. */
export function complain(words) {
  $("message").textContent = words || lasting;
}

/* What is wrong until this is called again; no other complaint is left. */
export function complainOn(words) {
  lasting = words;
  complain("");
}

/* Do what may fail, and say why it did; what failed before is forgotten. Whether it succeeded. */
export async function attempt(act) {
  complain("");
  try {
    await act();
    return true;
  } catch (error) {
    complain(error.message);
    return false;
  }
}

/* What a person keeps: a file, made here. */
export function download(name, blob) {
  const link = make("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const isTyping = (element) => element.matches?.("input:not([type=checkbox], [type=radio], [type=range]), textarea, select") ?? false;
