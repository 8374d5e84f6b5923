/* Small tools for the page, beside the elements that it shares with the replay's page. */

import { $, make } from "./elements.js";

export { $, draw, make, named, sentence, token } from "./elements.js";

export function button(words, act, className = "") {
  const made = make("button", className, words);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/* Elements of forms that belong to their labels need ids that no other has. */
let made = 0;
export const newId = () => `made-${++made}`;

export const percent = (share) => (share > 0 && share < 0.001 ? "under\u00a00.1\u00a0%" : `${(100 * share).toFixed(1)}\u00a0%`);

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
