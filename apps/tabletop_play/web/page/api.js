/* What the server is asked by HTTP. */

import { $ } from "./dom.js";

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server doesn't answer. Does it still run?");
  }
  const text = await answer.text();
  if (answer.ok) return text;
  let words = "";
  try {
    words = JSON.parse(text).error;
  } catch {
    // not from our server
  }
  throw new Error(words || `The server refuses (${answer.status}).`);
}

const once = new Map();

/* What doesn't change while the page is open. */
function kept(path) {
  if (!once.has(path)) {
    const asked = ask(path);
    once.set(path, asked);
    asked.catch(() => once.delete(path));
  }
  return once.get(path);
}

export const games = async () => JSON.parse(await kept("/api/games"));
export const rules = async (game, of) => JSON.parse(await kept(`/api/rules/${encodeURIComponent(game)}?${of}`)).html;
export const drawings = (game) => kept(`/api/drawings/${encodeURIComponent(game)}`);

async function post(path, content) {
  const headers = { "Content-Type": "application/json" };
  return JSON.parse(await ask(path, { method: "POST", headers, body: JSON.stringify(content) }));
}

export const openTable = async (wanted) => (await post("/api/tables", wanted)).links;
export const playersOfScenario = async (game, scenario) => (await post("/api/scenarios", { game, scenario })).players;

export const turnsOf = async (keys) => (await post("/api/mine", { keys })).turns;

/* Put what a game's boards refer to into the page. */
export async function useDrawings(game) {
  if ($("drawings").dataset.game === game) return;
  const markup = await drawings(game);
  $("drawings").innerHTML = markup; // the project's own drawing
  $("drawings").dataset.game = game;
}
