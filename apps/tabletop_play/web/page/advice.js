/* Advice: what agents would do, in the list and on the board. */

import { letter, showShares } from "./answers.js";
import { showBadges } from "./board.js";
import { estimateWords } from "./curve.js";
import { $, complain, make } from "./dom.js";
import { ask, view } from "./present.js";

let round = 0; // what was asked before something else was shown is of no use any more

/* The agents that can be asked about this view; a choice stays for the next one. */
export function offerAdvisers({ can, advisers, kind }) {
  $("ask").hidden = kind !== "play";
  $("adviser").hidden = advisers.length < 2;
  const names = [...$("adviser").options].map(({ value }) => value);
  if (names.join("\n") === advisers.join("\n")) return;
  $("adviser").replaceChildren(...advisers.map((name) => new Option(name, name)));
  const looking = advisers.filter((name) => !name.startsWith("policy")); // a network alone judges no single answers
  $("reviewer").replaceChildren(...looking.map((name) => new Option(name, name)));
  $("known-agents").replaceChildren(...advisers.map((name) => new Option(name)));
}

export function forgetAdvice() {
  round++;
  $("estimates").replaceChildren();
  showShares([]);
  showBadges(new Map());
}

/* Ask one agent after another; without names the one that is chosen. */
export async function askAdvice(names = [$("adviser").value]) {
  const { number, can } = view();
  if (!can.advice) return;
  forgetAdvice();
  complain("");
  const mine = round, advices = [];
  for (const agent of names) {
    const waiting = make("p", "waiting", `${agent || "The agent"} thinks …`);
    $("estimates").append(waiting);
    try {
      const advice = await ask("advice", { view: number, agent });
      if (mine !== round) return;
      advices.push(advice);
      waiting.replaceWith(adviceLine(advice, names.length > 1 ? `${letter(advices.length - 1)}: ` : ""));
    } catch (error) {
      if (mine !== round) return;
      waiting.remove();
      complain(error.message);
    }
    showShares(advices);
    if (advices.length) showBadges(shares(advices[0]));
  }
}

/* By action; none of an agent that only chooses. */
function shares({ answers }) {
  return new Map(answers.map(({ action, share }) => [action, share ?? 0]));
}

function adviceLine(advice, before) {
  const words = make("p", "", make("b", "", before + advice.agent), advice.meaning ? `: ${advice.meaning}.` : ".");
  if (typeof advice.estimate === "number") words.append(` Estimate: ${estimateWords(advice.estimate, advice.estimated)} (${advice.estimated}).`);
  return words;
}
