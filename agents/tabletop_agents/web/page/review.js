/* Where in a game the choices mattered most, by an agent's estimates. */

import { estimated } from "./answers.js";
import { $, attempt, button, make, percent, token } from "./dom.js";
import { goToStep } from "./analysis.js";
import { analyseAt, ask, view } from "./present.js";

const MOST = 8; // moments, at first

let running = false;

export function closeReview() {
  running = false;
  $("review").hidden = true;
  $("moments").replaceChildren();
}

export function reviewPart({ done, of }) {
  $("review-progress").max = of;
  $("review-progress").value = done;
}

async function startReview() {
  if (running) return;
  running = true;
  $("review").hidden = false;
  $("moments").replaceChildren();
  $("review-progress").hidden = false;
  $("review-progress").removeAttribute("value");
  $("review-about").textContent = "An agent looks at every decision …";
  $("review-title").focus();
  const succeeded = await attempt(async () => {
    const chosen = view().kind === "analyse" ? $("agent-name").value.split(/[,\s]+/)[0] : $("reviewer").value;
    const found = await ask("review", { agent: chosen });
    $("review-about").textContent = found.moments.length
      ? `How much ${found.agent} thinks each choice cost (${found.estimated}), the dearest first.`
      : `${found.agent} finds nothing that it would have done otherwise.`;
    const items = found.moments.map((moment) => make("li", "", shownMoment(moment, found)));
    $("moments").replaceChildren(...items.slice(0, MOST));
    if (items.length > MOST) $("moments").append(make("li", "", button(`Show all ${items.length}`, () => $("moments").replaceChildren(...items))));
  });
  if (!succeeded) $("review").hidden = true;
  running = false;
  $("review-progress").hidden = true;
}

function shownMoment({ step, by, text, better, drop }, found) {
  const owner = view().owners[by];
  const chance = estimated(drop, found) === percent(drop), lost = `${drop < 0.001 ? "" : "−"}${chance ? percent(drop) : drop.toFixed(1)}`;
  const line = make("button", "", make("span", "", ...(owner ? [token(owner)] : []), text), make("span", "drop", lost));
  line.append(make("span", "better", `Step ${step + 1}. Better: ${better}`));
  line.type = "button";
  line.dataset.step = step;
  line.addEventListener("click", () => (view().kind === "analyse" ? goToStep(step) : analyseAt(step)));
  return line;
}

for (const id of ["review-button", "review-line"]) $(id).addEventListener("click", startReview);
