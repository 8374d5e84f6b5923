/* A new game: which one, who plays, with what; or a position, or a file. */

import { drawings, games, openTable, playersOfScenario, turnsOf } from "./api.js";
import { $, attempt, button, capital, complain, draw, make, makeInput, newId, spaced } from "./dom.js";
import { face } from "./faces.js";
import { forgetGame, noteTurns, ownGames, remember, setting } from "./settings.js";

const HERE = "here", APART = "apart", AGENT = "agent";
const LARGEST_FILE = 2_000_000; // bytes; the server takes no more

let all = []; // the games
let game = null;
let players = 1;
let scenario = null; // where to start, instead of anew: the text of a file, in which browsers round no number
let choices = new Map(); // by option's name: how to read what is chosen
let navigate = () => {};
let busy = false;

/* wanted: {game, players, scenario}, any of them or none. */
export async function showStart(wanted, leave) {
  navigate = leave;
  if (!(await attempt(async () => (all = (await games()).games)))) return;
  scenario = wanted?.scenario ?? null;
  const name = wanted?.game ?? setting("game", all[0].name);
  game = all.find((one) => one.name === name) ?? all[0];
  players = wanted?.players ?? setting("players", game.players[0]);
  $("learn").checked = setting("learn", false);
  showFirstGames();
  showMine();
  lookAfterMine();
  showGames();
  chooseGame(game);
}

/* For those who have never played. */
function showFirstGames() {
  const those = all.filter(({ first }) => first);
  $("first-games").hidden = !those.length;
  $("first-games").querySelector(".actions").replaceChildren(...those.map(({ name, title, first }) =>
    button(`First game of ${title}`, () => {
      remember("learn", true); // in the games after it, too
      return busyWith(() => openAndGo({
        game: name, players: 1 + first.length, kind: "play", learn: true, seats: [HERE, ...first], start: { first: true },
      }, navigate));
    }, "main")));
}

const TURNS = { you: "your turn", handover: "your turn", others: "others think", over: "over", gone: "not on this server now" };

/* What this browser has played and not forgotten. */
function showMine() {
  const games = ownGames();
  $("mine").hidden = !games.length;
  $("mine-list").replaceChildren(...games.map(({ key, title, who, score, turn, when }) => {
    const link = make("a", "", `${title}: ${who}`);
    link.href = `/table/${key}`;
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      navigate({ table: link.getAttribute("href"), kept: null });
    });
    const forget = button("Forget", () => {
      forgetGame(key);
      showMine();
    });
    forget.setAttribute("aria-label", `Forget ${title}: ${who}`);
    const date = new Date(when);
    const seen = Number.isNaN(date.getTime()) ? "" : `, ${date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}`;
    return make("li", turn === "you" || turn === "handover" ? "yours" : "", link, make("span", "hint", `${score ? `${score}, ` : ""}${TURNS[turn] ?? "?"}${seen}`), forget);
  }));
}

/* What has happened there since; without an answer it stays as it was. */
async function lookAfterMine() {
  const games = ownGames();
  if (!games.length) return;
  const turns = await turnsOf(games.map(({ key }) => key)).catch(() => ({}));
  if (games.every(({ key, turn }) => turn === (turns[key] ?? turn))) return;
  noteTurns(turns);
  showMine();
}

function showGames() {
  const cards = all.map((one) => {
    const input = makeInput("radio", { name: "game", value: one.name, checked: one === game });
    input.disabled = scenario !== null && one !== game;
    input.addEventListener("change", () => chooseGame(one));
    const picture = make("img");
    picture.alt = "";
    picture.src = `/api/covers/${one.name}`;
    const card = make("label", "game", picture, make("span", "", one.title), input);
    card.dataset.game = one.name;
    return card;
  });
  $("games").replaceChildren($("games").firstElementChild, ...cards);
}

function chooseGame(one) {
  game = one;
  if (!game.players.includes(players)) players = game.players[0];
  $("position").hidden = scenario === null;
  $("position-text").textContent = `The game starts from a position of ${game.title} with ${players === 1 ? "one player" : `${players} players`}.`;
  $("players").hidden = $("settings").hidden = $("more").hidden = scenario !== null;
  $("players").replaceChildren($("players").firstElementChild, make("div", "segments", ...game.players.map(playersChoice)));
  choosePlayers(players);
}

function playersChoice(number) {
  const input = makeInput("radio", { name: "players", value: number, checked: number === players });
  input.addEventListener("change", () => choosePlayers(number));
  return make("label", "", input, make("span", "", String(number)));
}

function choosePlayers(number) {
  players = number;
  $("alone").textContent = number > 1 ? "" : game.alone;
  const suggested = suggestions();
  $("agents").replaceChildren(...suggested.map((name) => new Option(aboutAgent(name), name)));
  const kept = seats(), typed = [...document.querySelectorAll(".seat-row")].map((row) => row.typed.value);
  $("seats").replaceChildren($("seats").firstElementChild, ...Array.from({ length: number }, (_, seat) => seatRow(seat, kept[seat], typed[seat])));
  tellOnce();
  showOptions();
}

/* Names of agents for this game; some play only with certain numbers of players. */
const suggestions = () => game.agents[players];

/* What it does, and how strong it is where that was measured. */
const aboutAgent = (name) => game.about[players][name] ?? "";

/* Opponents that were measured against each other, the weakest first. */
const levels = () => game.levels[players];

const BEGINNERS = 2; // the index of the level that a new player meets

const usualAgent = () => levels()[Math.min(BEGINNERS, levels().length - 1)]?.agent ?? (suggestions().includes("greedy") ? "greedy" : (suggestions()[0] ?? ""));

/* --- seats --- */

/* Who may be an opponent: a level, or any agent by its name. It reads as the name. */
function opponents(seat, chosen) {
  const radios = levels().map(({ agent, name }, i) => {
    const input = makeInput("radio", { name: `level-of-${seat}`, value: agent });
    return make("label", "", input, face(i + 1), make("span", "", name));
  });
  const name = makeInput("text", { autocomplete: "off", maxLength: 100, placeholder: "name" });
  name.setAttribute("list", "agents");
  name.setAttribute("aria-label", `Agent of player ${seat + 1}`);
  const others = radios.length ? make("details", "others", make("summary", "", "Other opponents"), name) : name;
  const group = make("div", "levels", ...radios), about = make("p", "hint", "");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", `Opponent as player ${seat + 1}`);
  about.id = newId();
  name.setAttribute("aria-describedby", about.id);
  const inputs = radios.map((label) => label.firstChild), level = () => inputs.find(({ checked }) => checked)?.value;
  const read = () => name.value.trim() || level() || usualAgent();
  const choose = (agent) => {
    const own = inputs.find(({ value }) => value === agent);
    name.value = own ? "" : agent;
    for (const input of inputs) input.checked = input === own;
    about.textContent = levels().find((one) => one.agent === agent)?.about ?? aboutAgent(agent);
    tellOnce();
  };
  group.addEventListener("change", ({ target }) => choose(target.value));
  name.addEventListener("input", () => choose(name.value.trim()));
  name.addEventListener("change", () => choose(read()));
  if (!inputs.some(({ value }) => value === chosen)) others.open = true;
  choose(chosen);
  return { parts: [...(radios.length ? [group] : []), about, others], read };
}

function seatRow(seat, kept, names) {
  const who = make("select");
  who.id = newId();
  who.append(new Option("You, at this device", HERE), new Option("Somebody elsewhere", APART), new Option("An opponent", AGENT));
  const given = kept ?? (seat === 0 ? HERE : usualAgent()), isPerson = given === HERE || given === APART;
  who.value = isPerson ? given : AGENT;
  const isGone = given.startsWith("level-") && !levels().some(({ agent }) => agent === given); // with another number of players
  const agent = opponents(seat, isPerson || isGone ? usualAgent() : given);
  const called = makeInput("text", { autocomplete: "nickname", maxLength: 24, placeholder: "name", value: names ?? (seat === 0 ? setting("called", "") : "") });
  called.setAttribute("aria-label", `Name of player ${seat + 1}`);
  const label = make("label", "", `Player ${seat + 1}`);
  label.htmlFor = who.id;
  const row = make("div", "seat-row", make("span", "", swatch(seat), label), who);
  row.dataset.seat = seat;
  const show = () => {
    for (const one of [...agent.parts, called]) one.remove();
    row.append(...(who.value === AGENT ? agent.parts : [called]));
    tellOnce();
  };
  who.addEventListener("change", show);
  row.called = () => (who.value === AGENT ? "" : called.value.trim());
  row.typed = called;
  row.read = (asAgent) => (who.value === AGENT || asAgent ? agent.read() : who.value);
  show();
  return row;
}

/* What stands below one seat already is only told aloud at the next ones. */
function tellOnce() {
  const told = new Set();
  for (const about of document.querySelectorAll(".seat-row > .hint")) {
    about.classList.toggle("unseen", told.has(about.textContent));
    told.add(about.textContent);
  }
}

/* The seat's shape, from the drawings where they are loaded already. */
function swatch(seat) {
  const holder = make("span", "token");
  drawings(game.name).then((markup) => {
    const shape = new DOMParser().parseFromString(markup, "image/svg+xml").getElementById(`tabletop-owner-${seat}`);
    if (!shape) return;
    shape.removeAttribute("id"); // a table's page has it, too
    const svg = draw("svg", { class: "token", viewBox: "-17 -18 34 37", "aria-hidden": "true" });
    svg.append(document.importNode(shape, true));
    holder.replaceWith(svg);
  }, () => {});
  return holder;
}

const seats = (asAgents = false) => [...document.querySelectorAll(".seat-row")].map((row) => row.read(asAgents));

/* --- options --- */

function showOptions() {
  choices = new Map();
  const fits = (one) => !one.for || one.for === (players === 1 ? "one" : "several");
  const shown = game.options.filter(fits).map((option) => OPTIONS[option.kind](option));
  $("settings").replaceChildren($("settings").firstElementChild, ...shown);
}

const titled = (name) => capital(spaced(name));

const hint = (help) => (help ? [make("p", "hint", help)] : []);

const OPTIONS = {
  switch({ name, help }) {
    const box = makeInput("checkbox", { name });
    choices.set(name, () => (box.checked ? true : undefined));
    return make("div", "option", make("label", "switch", box, make("span", "", titled(name))), ...hint(help));
  },

  names({ name, help, names, about, refused, sets }) {
    const boxes = names.filter((one) => !refused[players].includes(one)).map((value) => makeInput("checkbox", { name, value }));
    choices.set(name, () => {
      const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
      return chosen.length ? chosen : undefined;
    });
    const labels = boxes.map((box) => make("label", "switch", box, make("span", "", make("span", "", spaced(box.value)), ...(about?.[box.value] ? [" ", make("span", "hint", about[box.value])] : []))));
    const byDifficulty = sets.map(({ names: those, about: words }) => {
      const one = button([make("b", "", those.map(spaced).join(", ") || "none"), make("span", "hint", words)], () => {
        for (const box of boxes) box.checked = those.includes(box.value);
        showSet();
      });
      return { one, isChosen: () => boxes.every((box) => box.checked === those.includes(box.value)) };
    });
    const showSet = () => byDifficulty.forEach(({ one, isChosen }) => one.setAttribute("aria-pressed", isChosen()));
    for (const box of boxes) box.addEventListener("change", showSet);
    showSet();
    const made = make("div", "option", make("p", "name", titled(name)), ...hint(help), ...(sets.length ? [make("div", "sets", ...byDifficulty.map(({ one }) => one))] : []), make("div", "boxes", ...labels));
    made.setAttribute("role", "group");
    made.firstChild.id = newId();
    made.setAttribute("aria-labelledby", made.firstChild.id);
    return made;
  },

  choice({ name, help, names }) {
    const select = make("select", "", ...names.map((one, i) => new Option(spaced(one), i))), label = make("label", "name", titled(name));
    Object.assign(select, { id: newId(), name });
    label.htmlFor = select.id;
    choices.set(name, () => (select.selectedIndex ? names[select.selectedIndex] : undefined));
    return make("div", "option", label, " ", select, ...hint(help));
  },
};

/* --- beginning --- */

function wanted(kind) {
  const options = {};
  if (!scenario) for (const [name, read] of choices) if (read() !== undefined) options[name] = read();
  const seed = $("seed").value.trim(), [minutes, seconds] = $("clock").value.split(" ");
  const start = scenario ? { scenario } : seed && !$("more").hidden ? { seed: Number(seed) } : null;
  return {
    game: game.name, players, options, kind, start,
    seats: kind === "analyse" ? [] : seats(kind === "watch"),
    names: kind === "play" ? [...document.querySelectorAll(".seat-row")].map((row) => row.called()) : [],
    learn: kind === "play" && $("learn").checked,
    clock: kind === "play" && minutes ? { minutes: Number(minutes), seconds: Number(seconds) } : null,
  };
}

async function begin(kind) {
  if (!$("new").reportValidity()) return;
  remember("game", game.name);
  remember("players", players);
  if (kind === "play") remember("learn", $("learn").checked);
  remember("called", document.querySelector(".seat-row")?.called() ?? "");
  await busyWith(() => openAndGo(wanted(kind), navigate));
}

/* Do what the server does; nothing else meanwhile. */
async function busyWith(act) {
  if (busy) return;
  busy = true;
  // the first game ever waits for its rules to be compiled
  const slow = setTimeout(() => ($("making").textContent = "The table is being made. The very first time this takes a minute or two."), 400);
  await attempt(act);
  clearTimeout(slow);
  $("making").textContent = "";
  busy = false;
}

/* Open a table and go there; with several links, hand them out first. */
export async function openAndGo(content, go) {
  const links = await openTable(content);
  const own = links.find(({ seats }) => seats.some((seat) => content.seats?.[seat] === HERE)) ?? (links.length === 1 ? links[0] : null);
  const kept = { links: links.map((link) => ({ ...link, own: link === own })) };
  if (own) await go({ table: own.path, kept });
  if (links.length > 1 || !own) await go({ links: kept.links });
}

/* Open a replay or a scenario; what is wrong with it is said with its name. */
async function openFile(file) {
  try {
    await openContent(file);
  } catch (error) {
    throw new Error(`${file.name}: ${error.message}`);
  }
}

async function openContent(file) {
  if (file.size > LARGEST_FILE) throw new Error("larger than a replay or a scenario can be.");
  const text = await file.text();
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error("no JSON, so neither a replay nor a scenario.");
  }
  if (content === null || typeof content !== "object" || Array.isArray(content)) throw new Error("no JSON object, so neither a replay nor a scenario.");
  if (Object.hasOwn(content, "replay")) await openReplay(content.game, text);
  else await openScenario(text, Object.hasOwn(content, "players"));
}

async function openReplay(name, text) {
  const its = all.find((one) => one.name === name);
  const here = all.map(({ title }) => title).join(" and ");
  if (!its) throw new Error(`a replay ${typeof name === "string" ? `of ${name.slice(0, 40)}` : "that names no game"}; here are ${here}.`);
  await openAndGo({ game: its.name, players: its.players[0], kind: "analyse", start: { replay: text }, step: 0 }, navigate);
}

/* A scenario doesn't say which game it is of: of the chosen one. */
async function openScenario(text, looksSo) {
  const its = game;
  const number = await playersOfScenario(its.name, text).catch((error) => {
    throw new Error(`${looksSo ? "no" : "neither a replay nor a"} scenario of ${its.title}, the chosen game: ${error.message}`);
  });
  scenario = text;
  players = number;
  game = its;
  showGames();
  chooseGame(game);
  $("position-off").focus();
}

$("new").addEventListener("submit", (event) => {
  event.preventDefault();
  begin("play");
});
$("new").addEventListener("input", () => complain("")); // what was wrong may be right now
$("watch").addEventListener("click", () => begin("watch"));
$("analyse").addEventListener("click", () => begin("analyse"));
$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", async () => {
  const [file] = $("file").files;
  if (file) await busyWith(() => openFile(file));
  $("file").value = ""; // the same file can be chosen again
});
$("rules-button").addEventListener("click", () => {
  const { players, options } = wanted("play");
  navigate({ rules: `${game.name}&of=${encodeURIComponent(JSON.stringify({ players, options }))}` });
});
$("position-off").addEventListener("click", () => {
  scenario = null;
  complain("");
  showGames();
  chooseGame(game);
});

/* --- links --- */

export function showLinks(links) {
  $("links-local").hidden = links.some(({ code }) => code);
  $("links-list").replaceChildren(...links.filter(({ own }) => !own).map(({ seats, url, code }) => {
    const input = makeInput("text", { readOnly: true, value: url });
    const who = seats.map((seat) => `Player ${seat + 1}`).join(", ");
    input.setAttribute("aria-label", `Link of ${who}`);
    const copy = button("Copy", async () => {
      input.select();
      try {
        await navigator.clipboard.writeText(url);
      } catch {
        document.execCommand("copy"); // where the page isn't trusted with the clipboard
      }
      copy.textContent = "Copied";
    });
    const item = make("li", "", make("p", "", who), make("div", "together", input, copy));
    if (code) item.append(asCode(code, who));
    item.dataset.seats = seats.join(" ");
    return item;
  }));
  const own = links.find((link) => link.own);
  $("own-link").hidden = !own;
  $("links-close").hidden = Boolean(own);
  if (own) $("own-link").href = own.path;
  $("links").showModal();
}

/* A link as a picture for a phone's camera. It is folded, because whoever sees it can open the link. */
function asCode(code, who) {
  const picture = make("img", "code");
  Object.assign(picture, { src: code, alt: `QR code of the link of ${who}` });
  return make("details", "", make("summary", "", "QR code"), picture);
}

$("own-link").addEventListener("click", (event) => {
  // this page is there already
  event.preventDefault();
  $("links").close();
});
