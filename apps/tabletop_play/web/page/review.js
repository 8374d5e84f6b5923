/* Looking back at a game: the curve of what an agent expects, where choices mattered most, and trying these again. */

import { explain } from "./advice.js";
import { goToStep } from "./analysis.js";
import { lightAnswers } from "./answers.js";
import { light } from "./board.js";
import { Curve, dropWords, estimateWords, isChance, isMistake } from "./curve.js";
import { $, attempt, button, complain, make, token } from "./dom.js";
import { analyseAt, ask, view } from "./present.js";

const MOST = 8; // moments, at first
const ALIKE = { chance: 0.01, points: 0.3 }; // so much less is as good: a review's noise

let found = null; // {agent, estimated, of, last, curve, moments}, so far
let running = false;
let round = 0; // a review that began before something else was opened is of no use any more
let taken = false; // into the analysis that is being opened
let all = false; // whether all moments are listed
let chosen = null; // the step on the curve, where the board doesn't show it
let told = null; // the step of a mistake that is to be explained, once it is on the board
let retry = null; // {moments, number, look}: what is tried again

const curve = new Curve($("curve"), $("curve-told"), (step, sure) => {
  if (view().kind === "analyse" || sure) goTo(step);
  else {
    chosen = step;
    showCurve();
  }
});

/* Leave the table; what was found goes along if it is opened for analysis. */
export function closeReview() {
  round++;
  running = false;
  $("review").hidden = $("retry").hidden = true;
  $("moments").replaceChildren();
  if (!taken) found = retry = told = null;
  all = taken = false;
  chosen = null;
}

/* What was found so far. */
export const looked = () => found;

/* A view has come. */
export function showReview(now) {
  if (now.kind === "analyse" && found && !running && now.played.steps !== found.last) found = retry = null; // another game
  $("review").hidden = !found;
  if (found) showFound();
  else $("retry").hidden = true;
  const one = now.kind === "analyse" && now.step === told && !retry && found?.moments.find(({ step }) => step === told);
  if (one) explainMoment(one);
  if (now.kind === "analyse") told = null;
}

/* What was played, and what would have been better, each with what it gains. */
const explainMoment = ({ action, better_action: better }) => explain(found.agent, [["Played", action], ["Better", better]]);

export function reviewPart({ agent, estimated, of, last, curve: points, moments }) {
  if (!running) return;
  if (!found) found = { curve: [], moments: [] };
  Object.assign(found, { agent, estimated, of, last });
  found.curve.push(...points);
  found.moments.push(...moments);
  found.moments.sort((one, other) => other.drop - one.drop);
  showFound();
}

async function startReview() {
  if (running) return;
  const mine = ++round;
  running = true;
  all = false;
  found = retry = chosen = null;
  $("review").hidden = false;
  for (const id of ["curve", "curve-told", "retry", "retry-begin"]) $(id).hidden = true;
  $("moments").replaceChildren();
  $("review-progress").hidden = false;
  $("review-progress").removeAttribute("value");
  $("review-about").textContent = "An agent looks at every decision …";
  $("review-title").focus();
  complain("");
  try {
    const named = view().kind === "analyse" ? $("agent-name").value.split(/[,\s]+/)[0] : $("reviewer").value;
    const whole = await ask("review", { agent: named });
    if (mine !== round) return;
    found = whole;
  } catch (error) {
    if (mine !== round) return; // the table was left
    complain(error.message);
  }
  running = false;
  if (found) showFound();
  $("review").hidden = !found;
}

/* --- what was found --- */

const mistakes = () => found.moments.filter((one) => isMistake(one, found.estimated));
const puzzles = () => mistakes().filter(({ answers }) => answers > 2); // of two answers, the other one is better
const left = () => view().kind === "analyse" && view().played.left;

function about() {
  const { agent, estimated, of, curve: { length }, moments } = found;
  if (length < of || running) return `${agent} ${running ? "looks" : "looked"} at ${length} of ${of} decisions.`;
  if (!moments.length) return `${agent} finds nothing that it would have done otherwise.`;
  return `How much ${agent} thinks each choice cost (${estimated} of the player who chose), the dearest first.`;
}

function showFound() {
  $("review-progress").hidden = !running;
  $("review-progress").max = found.of;
  $("review-progress").value = found.curve.length;
  $("review-about").textContent = about();
  $("retry-begin").hidden = running || retry !== null || !puzzles().length;
  $("back-to-game").hidden = !left();
  showCurve();
  showMoments();
  showRetry();
}

function showCurve() {
  const { curve: points, estimated, last } = found, { owners, step } = view();
  $("curve").hidden = $("curve-told").hidden = !points.length;
  const at = Math.min(last, step ?? chosen ?? last);
  if (points.length) curve.show({ points, moments: mistakes(), owners, estimated, last, at, until: last });
}

function showMoments() {
  const focused = document.activeElement.closest?.("#moments button")?.dataset.step;
  const shown = all ? found.moments : found.moments.slice(0, MOST);
  $("moments").replaceChildren(...shown.map((one) => make("li", "", shownMoment(one))));
  const more = () => {
    all = true;
    showMoments();
  };
  if (found.moments.length > shown.length) $("moments").append(make("li", "", button(`Show all ${found.moments.length}`, more)));
  if (focused) $("moments").querySelector(`[data-step="${focused}"]`)?.focus({ preventScroll: true });
}

function shownMoment({ step, by, text, better, drop }) {
  const owner = view().owners[by], marks = owner ? [token(owner)] : [];
  const cost = make("span", "drop", dropWords(drop, found.estimated)), instead = make("span", "better", `Step ${step + 1}. Better: ${better}`);
  const line = button([make("span", "", ...marks, text), cost, instead], () => goTo(step));
  line.dataset.step = step;
  return line;
}

/* The position at a step of the game, also when other answers were tried since. */
async function goTo(step) {
  told = step;
  if (view().kind === "analyse") return goToStep(step, left() ? "return" : "goto");
  taken = true;
  await analyseAt(step);
  taken = false; // also where it could not be opened
}

/* --- finding the better move --- */

const tried = () => retry.moments[retry.number];

async function startRetry() {
  const dearest = $("retry-order").value === "drop";
  const moments = puzzles().sort((one, other) => (dearest ? other.drop - one.drop : one.step - other.step));
  retry = { moments, number: 0, look: view().seat ?? null };
  await showTried();
  if (view()?.kind === "analyse") $("retry-asked").focus({ preventScroll: true });
}

/* The position, as its seat sees it. */
async function showTried() {
  $("retry-answer").textContent = "";
  await goTo(tried().step);
  if (!retry || !view()) return;
  showFound();
  $("dock").scrollTop = 0; // on a small screen what is tried stands at the top of the sheet
}

function showRetry() {
  const shown = retry !== null && view().kind === "analyse";
  $("review").toggleAttribute("data-retrying", shown);
  $("retry").hidden = !shown;
  if (!shown) return;
  const { step, by, text, drop } = tried(), { owners, seat } = view();
  if (seat !== by) attempt(() => ask("look", { seat: by }));
  const of = `Mistake ${retry.number + 1} of ${retry.moments.length}, step ${step + 1}.`;
  const cost = dropWords(drop, found.estimated).replace("−", "");
  $("retry-asked").textContent = `${of} ${owners[by].name} played: ${text}. It cost ${cost}. What is better? Choose an answer.`;
  $("retry-next").textContent = retry.number + 1 < retry.moments.length ? "Next mistake" : "Finish";
  $("retry-here").hidden = isRetrying();
  $("retry-show").disabled = !isRetrying();
}

/* Whether an answer is tried, and not played. */
export const isRetrying = () => retry !== null && view().kind === "analyse" && view().step === tried().step && !left();

export async function tryAnswer([action]) {
  const one = tried(), { number, answers } = view(), { text } = answers.find(({ actions }) => actions[0] === action);
  const say = (words) => {
    if (retry && tried() === one) $("retry-answer").textContent = words;
  };
  const known = { [one.action]: one.estimate, [one.better_action]: one.best };
  say(`${found.agent} looks at: ${text} …`);
  let estimate = known[action];
  try {
    estimate ??= (await ask("judge", { view: number, agent: found.agent, action })).estimate;
  } catch (error) {
    say("");
    throw error;
  }
  if (!found) return;
  const cost = one.best - estimate, there = `${estimateWords(estimate, found.estimated)} (${found.estimated})`;
  if (action === one.action) say(`This is what was played: ${text}. Try again.`);
  else if (cost <= (isChance(found.estimated) ? ALIKE.chance : ALIKE.points)) say(`Well found: ${text}. ${there}: as good as what ${found.agent} would play.`);
  else say(`${text}: ${there}. It costs ${dropWords(cost, found.estimated).replace("−", "")}. Try again.`);
}

function showAnswer() {
  const { better, better_action: action, best, estimate } = tried();
  const words = (number) => estimateWords(number, found.estimated);
  $("retry-answer").textContent = `Better: ${better}. ${words(best)} rather than ${words(estimate)} (${found.estimated}).`;
  light([action]);
  lightAnswers([action]);
  explainMoment(tried());
}

async function nextRetry() {
  if (retry.number + 1 === retry.moments.length) return stopRetry();
  retry.number++;
  await showTried();
  $("retry-asked").focus({ preventScroll: true });
}

async function stopRetry() {
  const { look } = retry;
  retry = null;
  showFound();
  $("review-title").focus({ preventScroll: true });
  if (view().seat !== look) await attempt(() => ask("look", { seat: look }));
}

for (const id of ["review-button", "review-line"]) $(id).addEventListener("click", startReview);
$("retry-start").addEventListener("click", startRetry);
$("retry-show").addEventListener("click", showAnswer);
$("retry-here").addEventListener("click", () => goTo(tried().step));
$("retry-next").addEventListener("click", nextRetry);
$("retry-stop").addEventListener("click", stopRetry);
$("back-to-game").addEventListener("click", () => goTo(Math.min(found.last, view().step)));
