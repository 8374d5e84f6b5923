/* The table that this page is at: its connection, the view on the page, and what can be asked of the server. */

import { attempt, download } from "./dom.js";

/* people: what the server said of those at the table; queue: views that have come and wait; leave(place) goes to another place of the page. */
export const present = { connection: null, view: null, people: null, clock: null, queue: [], leave: () => {} };

export const view = () => present.view;
export const ask = (name, content) => present.connection.ask(name, content);
export const waiting = () => present.queue.length;
export const playersOf = (view) => view.owners.filter(({ who }) => who !== "opponent").length;

export async function save(what) {
  await attempt(async () => {
    const { name, text } = what === "page" ? await ask("page") : await ask("export", { what });
    download(name, new Blob([text], { type: what === "page" ? "text/html" : "application/json" }));
  });
}

/* Open what was played at a step, to analyse it. */
export async function analyseAt(step) {
  await attempt(async () => {
    const { text } = await ask("export", { what: "replay" });
    const shown = view();
    await present.leave({ open: { kind: "analyse", game: shown.game, players: playersOf(shown), start: { replay: text }, step } });
  });
}
