/* The people at a table: who is here, whose turn it is, what they are called, and who may play or only watch. */

import { $, attempt, button, heading, make, token } from "./dom.js";
import { ask, present } from "./present.js";
import { remember, setting } from "./settings.js";
import { ring } from "./sound.js";

/* Whether one doesn't only watch. */
export const plays = () => present.people?.plays ?? true;
let mine = false; // whether somebody here is asked

/* What the server said of the people. */
export function peopleCame(people, view) {
  present.people = people;
  const { waiting, free } = people, you = view?.owners.some(({ name }) => name === "You") ? ", and is “You” here" : "";
  const watched = make("p", "", `You only watch: somebody else plays with this link${you}. They ${free ? "have been away for some minutes" : "can let you in"}.`);
  if (free) watched.append(" ", button("Play here", () => attempt(() => ask("sit"))));
  $("guests").replaceChildren(...(plays()
    ? waiting.map((who) => make("p", "", "Somebody else has opened your link, and watches. ", button("Let them play, too", () => attempt(() => ask("admit", { who })))))
    : [watched]));
  if (present.view) showSeats(present.view);
}

/* Seconds by seat, and which of them run down here; since when. */
export function clockCame({ left, runs }) {
  present.clock = { left, runs, since: performance.now() };
  showClocks();
}

function showClocks() {
  const { left, runs, since } = present.clock ?? { left: {} };
  [...$("owners").children].forEach((row, seat) => {
    if (!(seat in left)) return;
    const seconds = Math.ceil(left[seat] - (seat === runs ? (performance.now() - since) / 1000 : 0)), whole = Math.abs(seconds);
    const shown = row.querySelector(".clock");
    shown.textContent = `${seconds < 0 ? "−" : ""}${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
    shown.classList.toggle("over", seconds < 0);
  });
}

setInterval(() => present.clock && showClocks(), 500);

/* A view as somebody sees it who only watches; as it is for those who play. */
export function seenBy(view) {
  if (plays()) return view;
  const owners = view.owners.map((owner) => ({ ...owner, who: owner.who === "you" ? "person" : owner.who }));
  const turn = view.turn === "you" ? "others" : view.turn;
  return { ...view, turn, owners, answers: [], can: { ...view.can, undo: false, advice: false } };
}

/* The seats: points, who is here, and whose turn it is. */
export function showSeats(view) {
  const { owners, actor, result, turn, kind } = view;
  const focused = [...$("owners").children].indexOf(document.activeElement?.closest("#owners tr"));
  $("owners").replaceChildren(...owners.map((owner, number) => {
    const head = heading("row", make("span", "", token(owner), make("span", "", owner.name)));
    const asked = number === actor && turn !== "over";
    const words = [...whereabouts(owner, number, kind)];
    if (asked) words.push(make("b", "", kind !== "play" ? "asked" : { you: "your turn", agent: "thinks" }[owner.who] ?? "their turn"));
    if (result?.winners?.includes(number)) words.push("★ wins");
    const about = make("td", "about", ...words.flatMap((word, i) => (i ? [" · ", word] : [word])));
    if (owner.who === "you" && kind === "play") about.append(" ", namer(owner, number));
    about.append(" ", make("span", "clock"));
    const row = make("tr", "", head, about, make("td", "", String(owner.points)));
    row.classList.toggle("asked", asked);
    row.dataset.owner = owner.seat;
    return row;
  }));
  namerOf(focused)?.focus();
  showClocks();
  const number = present.people?.watching ?? 0, others = kind === "play" ? "" : "other ";
  $("watching").textContent = number ? `${number} ${others}${number === 1 ? "person watches" : "people watch"}.` : "";
}

/* Where somebody is; an agent's level, which its name doesn't tell. */
function whereabouts({ who, agent, name }, number, kind) {
  if (who === "agent") return name.startsWith(agent) ? [] : [agent.replace("-", " ")];
  if (who === "you") return name === "You" ? [] : ["you"];
  if (who !== "person" || kind !== "play") return [];
  const here = present.people?.here.includes(number);
  return [make("span", here ? "here" : "away", here ? "here" : "away")];
}

/* Tell somebody who looks elsewhere that it is their turn. */
export function announce({ kind, turn, title }) {
  const before = mine;
  mine = plays() && kind === "play" && (turn === "you" || turn === "handover");
  document.title = `${mine ? "● Your turn – " : ""}${title}`;
  if (mine && !before && (document.hidden || !document.hasFocus())) ring();
}

/* The people of one table are not those of the next. */
export function forgetPeople() {
  present.people = present.clock = null;
  mine = false;
  $("guests").replaceChildren();
  $("watching").textContent = "";
}

/* --- names --- */

const namerOf = (seat) => $("owners").children[seat]?.querySelector("button");

function namer(owner, seat) {
  const made = button(owner.named ? "✎" : "✎ Name", () => {
    $("naming").dataset.seat = seat;
    $("own-name").value = owner.named ? owner.name : setting("called", "");
    $("naming-error").textContent = "";
    $("naming").showModal();
    $("own-name").select();
  }, "rename");
  made.setAttribute("aria-label", `Change the name of ${owner.name}`);
  return made;
}

$("naming").querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = $("own-name").value.trim(), seat = Number($("naming").dataset.seat);
  try {
    await ask("name", { seat, name });
    remember("called", name);
    $("naming").close();
    namerOf(seat)?.focus();
  } catch (error) {
    $("naming-error").textContent = error.message;
  }
});
