/* Small tools for the page, beside the elements that it shares with the replay's page. */

import { $, make } from "./elements.js";

export { $, draw, make, named, sentence, token } from "./elements.js";

/* words: a text, or a list of texts and elements. */
export function button(words, act, className = "") {
  const made = make("button", className, ...[words].flat());
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/* An input of this type with more properties. */
export const makeInput = (type, more = {}) => Object.assign(make("input"), { type, ...more });

/* The heading of a "row" or a "col" of a table. */
export const heading = (scope, ...words) => Object.assign(make("th", "", ...words), { scope });

export const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/* A name such as double_card in words. */
export const spaced = (name) => String(name).replaceAll("_", " ");

/* Elements of forms that belong to their labels need ids that no other has. */
let made = 0;
export const newId = () => `made-${++made}`;

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

/* What answers gain, as the server lists it, in one sentence: "Grass on P4: +4 for you, −2 for Ana. …" */
export function gainWords(gains, owners) {
  const alone = owners.filter(({ who }) => who === "you").length === 1, whose = ({ who, name }) => (alone && who === "you" ? "you" : name);
  return gains.map(([source, numbers]) => {
    const each = numbers.flatMap((number, owner) => (number ? [`${signed(number)} for ${whose(owners[owner])}`] : []));
    return `${capital(source)}: ${each.join(", ")}.`;
  }).join(" ");
}

const signed = (number) => (number > 0 ? `+${number}` : `−${-number}`);

export const isTyping = (element) => element.matches?.("input:not([type=checkbox], [type=radio], [type=range]), textarea, select") ?? false;
