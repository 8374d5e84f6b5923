/* Setting up a position. The code of the editor is loaded when it is first opened. */

import { $, attempt } from "./dom.js";

let editor = null; // the module
let closed = () => {};

/* What is done when the editor has closed. */
export function afterEditing(act) {
  closed = act;
}

export const isEditing = () => !$("editor").hidden;

export async function openEditor() {
  await attempt(async () => {
    editor ??= await import("./editor.js");
    await editor.openEditor(closed);
  });
}

export const closeEditor = () => editor?.closeEditor();
export const leaveEditor = () => editor?.leaveEditor();
export const checkAgain = () => editor?.checkAgain();
