/* Advice: how an agent would go on, on the board and in words. The numbers that only agents understand are behind "Details". */

import { letter, showShares } from "./answers.js";
import { showBadges, showGhost } from "./board.js";
import { estimateWords } from "./curve.js";
import { $, button, capital, complain, gainWords, make, named } from "./dom.js";
import { ask, view } from "./present.js";
import { remember, setting } from "./settings.js";

let round = 0; // what was asked before something else was shown is of no use any more
let isShown = false; // whether the board shows how an agent would go on
let take = () => {};

/* act(plan) is done when somebody wants to answer as an agent would. */
export const onTake = (act) => (take = act);

/* The agents that can be asked about this view; a choice stays for the next one. */
export function offerAdvisers({ can, advisers, kind }) {
  $("ask").hidden = kind !== "play";
  $("adviser").hidden = advisers.length < 2;
  const names = [...$("adviser").options].map(({ value }) => value);
  if (names.join("\n") === advisers.join("\n")) return;
  $("adviser").replaceChildren(...advisers.map((name, i) => new Option(i ? name : "the best", name)));
  const looking = advisers.filter((name) => !name.startsWith("policy")); // a network alone judges no single answers
  $("reviewer").replaceChildren(...looking.map((name) => new Option(name, name)));
  $("known-agents").replaceChildren(...advisers.map((name) => new Option(name)));
}

/* Whether there was any. */
export function forgetAdvice() {
  round++;
  const was = isShown;
  if (isShown) showGhost(null, null, true);
  isShown = false;
  $("estimates").replaceChildren();
  showShares([]);
  showBadges(new Map());
  return was;
}

/* What is chosen is on the board in place of it. */
export const hideAdvice = () => (isShown = false);

/* Ask one agent after another; without names the one that is chosen. A single one also says how it would go on. */
export async function askAdvice(names = [$("adviser").value]) {
  const { number, can } = view();
  if (!can.advice) return;
  forgetAdvice();
  complain("");
  const mine = round, advices = [];
  for (const agent of names) {
    const waiting = make("p", "waiting", "Thinking …");
    $("estimates").append(waiting);
    try {
      const advice = await ask("advice", { view: number, agent });
      if (mine !== round) return;
      advices.push(advice);
      waiting.replaceWith(details(advice, names.length > 1 ? `${letter(advices.length - 1)}: ` : ""));
    } catch (error) {
      if (mine !== round) return;
      waiting.remove();
      complain(error.message);
    }
    showShares(advices);
    if (advices.length) showBadges(shares(advices[0]));
  }
  if (names.length === 1 && advices.length && view().turn === "you") await tellPlans(advices[0].agent, [["Advice", advices[0].best]], mine);
}

/* Say how an agent would go on after each of these [heading, action], and what that gains. The last one is on the board. */
export async function explain(agent, those) {
  forgetAdvice();
  await tellPlans(agent, those, round);
}

async function tellPlans(agent, those, mine) {
  const { number, owners, kind } = view();
  for (const [heading, action] of those) {
    const line = make("p", "waiting", `${heading} …`);
    $("estimates").insertBefore(line, $("estimates").querySelector("details"));
    try {
      const plan = await ask("plan", { view: number, agent, actions: [action] });
      if (mine !== round) return;
      const { given, gains, is_whole: isWhole } = plan, then = isWhole ? "" : "What follows is not known yet.";
      line.className = "plan";
      const gained = make("b", "gains", gainWords(gains, owners) || "No points yet.");
      line.replaceChildren(`${heading}: `, gained, " ", ...named(capital(given.text), owners), `. ${then}`);
      if (kind === "play") line.prepend(button("Choose it", () => take(plan)));
      isShown = plan.board !== null;
      if (isShown) showGhost(plan.parts, plan.board, true);
    } catch (error) {
      if (mine !== round) return;
      line.remove();
      complain(error.message);
    }
  }
  $("said").scrollTop = $("estimates").offsetTop - $("said").offsetTop;
}

/* By action; none of an agent that only chooses. */
function shares({ answers }) {
  return new Map(answers.map(({ action, share }) => [action, share ?? 0]));
}

/* What the agent thinks in its own numbers; while it is open, they are in the list and on the board, too. */
function details(advice, before) {
  const { owners, actor, kind } = view(), whose = owners[actor]?.who === "you" ? "Your" : `${owners[actor]?.name}’s`;
  const words = make("p", "", make("b", "", before + advice.agent), advice.meaning ? `: ${advice.meaning}.` : ".");
  if (typeof advice.estimate === "number") words.append(` ${whose} ${advice.estimated}: ${estimateWords(advice.estimate, advice.estimated)}.`);
  if (kind !== "play") return words; // numbers are what one asks for there
  const made = make("details", "", make("summary", "", "Details"), words);
  made.open = setting("numbers", false);
  made.addEventListener("toggle", () => showNumbers(made.open));
  return made;
}

function showNumbers(shown) {
  remember("numbers", shown);
  document.body.toggleAttribute("data-numbers", shown);
}

document.body.toggleAttribute("data-numbers", setting("numbers", false));
