/* A table: what this page may see of a game, what it is asked, and what it answers. */

import { useDrawings } from "./api.js";
import { askAdvice, forgetAdvice, hideAdvice, offerAdvisers, onTake } from "./advice.js";
import { closeAnalysis, moveInLine, showAnalysis } from "./analysis.js";
import { disableAnswers, lightAnswers, narrowAnswers, showAnswers, startFilter, typed } from "./answers.js";
import { clearBoard, clearMarks, light, markPlaces, onBeside, pictureOf, showBoard, showGhost } from "./board.js";
import { $, attempt, capital, complain, complainOn, gainWords, heading, make, named, sentence, token } from "./dom.js";
import { afterEditing, checkAgain, isEditing, leaveEditor } from "./editing.js";
import { disableHand, lightHand, showHand } from "./hand.js";
import { usePanes } from "./layout.js";
import { announce, clockCame, forgetPeople, peopleCame, plays, seenBy, showSeats } from "./people.js";
import { analyseAt, ask, present, save, waiting } from "./present.js";
import { noteGame, remember, setting } from "./settings.js";
import { answerGiven, onTwice, questionCame } from "./slips.js";
import { Connection } from "./socket.js";
import { afterTelling, clearStory, faster, foreseen, hurry, isTelling, recall, seconds, skip, tell, tellUndone } from "./story.js";
import { closeWatch, showWatch, stepCame, stepWatch, toggleWatch } from "./watch.js";

let review = null; // the module that looks back, and the one that guides through a first game, once they are needed
let guide = null;
const FIRST_WORDS = "Choose on the board or below the question.";
const FAR_BEHIND = 8; // views that wait: what led to them is only told in words then

let working = false;
let active = false; // whether the view on the page can be answered
let begun = []; // the actions that were chosen, of an answer that needs more
let whole = null; // the answer that is chosen, and not yet given
let offers = []; // previews that stand on each other: [{size, whole, answers, end, told, parts, board}]; the first `size` actions are seen there
let hasty = false; // whether what was chosen last was meant to be given at once
let held = { at: 0, entries: [], asides: [] }; // what is beside the question, after so many of them
let aside = ""; // the button whose answers are offered; "": those that need none
let mark = () => {}; // marks the places that can be chosen
let settling = 0; // the timer of a question's first moments
const stories = new Map(); // by the number of the view, what waits for its boards
let unsaved = ""; // why the server can't save the game at present
let links = null;

/* kept: what this page knows of the table from when it was opened: {links}, or null. */
export function openTableView(key, kept, leave) {
  Object.assign(present, { key, leave, queue: [], view: null });
  links = kept;
  active = working = false;
  unsaved = "";
  $("show-links").hidden = !(kept?.links?.length > 1);
  $("caption").textContent = "Connecting…";
  present.connection = new Connection(key, {
    event: receive,
    lost: (noTable) => {
      $("banner").textContent ||= "The connection is lost. Trying again…";
      if (noTable) offerStart();
      $("board").classList.add("stale");
      deactivate();
    },
    found: () => {
      present.queue = []; // what waits is of the lost connection; the present view comes anew
      giveUpStories();
      checkAgain();
    },
  });
}

export function closeTableView() {
  present.connection?.close();
  giveUpStories();
  Object.assign(present, { connection: null, queue: [], view: null });
  clearStory();
  clearBoard();
  closeAnalysis();
  closeWatch();
  review?.closeReview();
  forgetAdvice();
  forgetPeople();
  guide?.leaveGuide();
  showAnswers([], [], () => {}, () => {});
  if ($("curtain").open) $("curtain").close();
  $("banner").textContent = "";
  $("table").classList.remove("gone");
  for (const id of ["result", "learning", "show-links", "rules-link", "sound"]) $(id).hidden = true;
  $("about").textContent = "";
  for (const fact of ["turn", "view", "kind", "ready", "begun"]) delete document.body.dataset[fact];
}

/* There is nothing to come back to now. */
function offerStart() {
  if ($("table").classList.contains("gone")) return;
  const link = make("a", "", "A new game");
  link.href = "/";
  $("banner").append(link);
  $("table").classList.add("gone");
}

function receive(message) {
  if (message.closing && !$("table").classList.contains("gone")) $("banner").textContent = sentence(message.closing);
  if (unsaved !== (message.unsaved ?? unsaved)) {
    unsaved = message.unsaved;
    complainOn(present.view?.trouble || unsaved);
    if (!unsaved) complain("This game is saved again.");
  }
  if (message.review) review?.reviewPart(message.review);
  if (message.story) {
    stories.get(message.story.view)?.(message.story);
    stories.delete(message.story.view);
  }
  if (message.clock) clockCame(message.clock);
  if (message.people) {
    peopleCame(message.people, message.view ?? present.view);
    if (message.view && message.people.plays && !setting("alone", true)) giveAlone(false); // it was just opened, or let in
  }
  if (!message.view) return;
  $("banner").textContent = "";
  $("table").classList.remove("gone");
  const view = seenBy(message.view);
  view.drawn = view.story ? new Promise((resolve) => stories.set(view.number, resolve)) : null;
  present.queue.push(view);
  if (isUrgent(view)) hurry();
  work();
}

/* What waits for boards of a lost connection does without. */
function giveUpStories() {
  for (const resolve of stories.values()) resolve(null);
  stories.clear();
}

/* A view that isn't to wait for what is told: somebody here is asked, or it shows an answer of theirs. */
function isUrgent({ kind, turn, past, steps, owners }) {
  if (past || kind === "analyse") return true;
  return kind === "play" && (turn !== "others" || steps.every(({ by }) => owners[by]?.who === "you"));
}

/* A module; null if it doesn't come. */
const loaded = (module) => module.catch((error) => (complain(error.message), null));

/* One view after another: at once if it is urgent, otherwise after what led to it has been told. */
async function work() {
  if (working) return;
  working = true;
  const table = present.connection;
  deactivate();
  while (waiting() && present.connection === table) {
    const next = present.queue.shift();
    await useDrawings(next.game).catch((error) => complain(error.message));
    if (next.can?.review || next.kind === "analyse") review ??= await loaded(import("./review.js"));
    if (next.guide) guide ??= await loaded(import("./guide.js"));
    if (present.connection !== table) return; // left meanwhile
    $("rules-link").href = `/#rules=${next.game}&table=${present.key}`;
    $("rules-link").hidden = false;
    $("home").textContent = next.title;
    usePanes(next);
    if (next.kind === "watch") stepCame(next);
    let told = null;
    if (next.past || next.kind === "analyse") {
      clearStory();
      recall(next);
      if (next.undone) tellUndone(next);
    } else if (waiting() < FAR_BEHIND) told = tell(next);
    else recall(next);
    arrive(next); // the board shows it when what led to it was shown
    if (isUrgent(next) || present.queue.some(isUrgent)) continue;
    await told;
    if (present.connection !== table) return;
  }
  working = false;
  if (present.view) activate();
}

/* --- a view --- */

function arrive(view) {
  const before = present.view;
  present.view = view;
  const { turn, asked } = view;
  document.body.dataset.turn = turn;
  document.body.dataset.view = view.number;
  document.body.dataset.kind = view.kind;
  $("sound").hidden = view.kind !== "play";
  announce(view);
  noteThis(view);
  forgetAdvice();
  complainOn(view.trouble || unsaved);
  if (turn === "handover") {
    hide(view);
    return;
  }
  if ($("curtain").open) $("curtain").close();
  if (!isEditing()) showBoard(view.parts, view.board, `The board. ${asked}`, before !== null && seconds() > 0, asked, isTelling());
  showSeats(view);
  $("about").textContent = [...view.about, view.seat === null ? "all hands shown" : ""].filter(Boolean).join(", ");
  showAsked(view);
  showLesson(view, view.lesson);
  showResult(view);
  showAnalysis(view);
  showWatch(view);
  review?.showReview(view);
  if (!before && view.kind === "play" && turn === "you") $("caption").textContent = FIRST_WORDS;
  else if (turn === "over" && $("caption").textContent === FIRST_WORDS) $("caption").textContent = "";
  showWaiting();
}

/* Who thinks, after what was told. */
function showWaiting() {
  const { turn, thinking, undone } = present.view, thinks = turn === "others" && thinking && !isTelling() && !undone;
  if (thinks) $("caption").textContent = `${thinking} thinks …`;
  else if ($("caption").matches(".waiting")) $("caption").textContent = "";
  $("caption").classList.toggle("waiting", Boolean(thinks));
}

/* For "My games" on the start page. */
function noteThis({ kind, title, turn, owners }) {
  if (kind !== "play" || !plays()) return;
  const own = owners.filter((owner) => owner.who === "you"), names = (those) => those.map(({ name }) => name).join(", ");
  const against = names(others(owners)), score = [...own, ...others(owners)].map(({ points }) => points).join(" : ");
  noteGame({ key: present.key, title, who: names(own) + (against && ` against ${against}`), score, turn, when: Date.now() });
}

/* What is asked after what was chosen, or else the last question. */
function asking({ question }) {
  const { steps } = open()[0] ?? { steps: [] };
  return steps[begun.length]?.question || steps[begun.length - 1]?.question || question;
}

function showAsked(view) {
  const { turn, kind, asked, owners, actor } = view;
  const question = asking(view);
  const yours = turn === "you" && kind === "play";
  const alone = owners.filter(({ who }) => who === "you").length === 1;
  const who = alone || !owners[actor] ? "" : `${owners[actor].name}: `;
  $("decision").classList.toggle("yours", yours);
  $("decision").hidden = turn === "over" && kind !== "analyse" && view.result !== null;
  $("asked").replaceChildren(
    ...(owners[actor] && turn !== "over" ? [token(owners[actor])] : []),
    ...(yours ? [who + question] : [asked]),
  );
  $("undo").hidden = $("commit").hidden = kind !== "play" || !plays();
  $("undo-end").hidden = !view.can.undo;
  offerAdvisers(view);
}

function showLesson({ introduction, guide }, lesson) {
  if (guide) return;
  $("learning").hidden = !lesson && !introduction;
  $("learning").scrollTop = 0;
  fillLesson("introduction", introduction);
  fillLesson("lesson", lesson);
}

function fillLesson(name, lesson) {
  const panel = $(name);
  panel.hidden = !lesson;
  if (!lesson) return;
  panel.open = setting(name, true);
  panel.querySelector("summary").textContent = lesson.title;
  const paragraphs = lesson.text.map((paragraph) => make("p", "", paragraph));
  const section = lesson.section ? [make("p", "section", `Rulebook: ${lesson.section}`)] : [];
  panel.querySelector("div").replaceChildren(...paragraphs, ...section);
}

const others = (owners) => owners.filter(({ who }) => who !== "you");

function showResult({ turn, kind, result, owners, can, next }) {
  $("result").hidden = turn !== "over" || !result;
  if ($("result").hidden) return;
  $("verdict").textContent = result.verdict;
  const heads = owners.map((owner) => heading("col", token(owner), make("span", "unseen", owner.name)));
  $("sources").tHead.replaceChildren(make("tr", "", heading("col", "points"), ...heads));
  const row = ([label, numbers]) => make("tr", "", heading("row", label), ...numbers.map((number) => make("td", "", String(number))));
  $("sources").tBodies[0].replaceChildren(...result.rows.map(row));
  $("again").hidden = kind === "analyse";
  if (next && plays()) $("banner").textContent = `The next game is ready${others(owners).some(({ who }) => who === "person") ? ", with other seats" : ""}: “Play again” leads to it.`;
  $("review-button").hidden = $("reviewer").hidden = !can.review || kind === "analyse";
  $("save").hidden = $("save-page").hidden = $("analyse-game").hidden = !can.export || kind === "analyse";
}

afterTelling(() => {
  if (present.view) showWaiting();
  if (!active) return;
  if (held.entries.some(({ places, picture }) => picture === null && places.length)) offer(); // cards that came meanwhile
  else mark();
});

/* The board shows the view again, not what was set up. */
afterEditing(() => {
  const { connection, view } = present;
  if (!view || !connection) return;
  showBoard(view.parts, view.board, `The board. ${view.asked}`, false, view.asked);
  if (!working) activate();
});

/* --- answering --- */

function activate() {
  const { turn, answers, owners, result, kind } = present.view;
  if (turn === "handover") return;
  const lost = document.activeElement === document.body || document.activeElement === $("main");
  const inside = lost || ["decision", "all"].some((id) => $(id).contains(document.activeElement)) || $("game").contains(document.activeElement);
  active = answers.length > 0;
  [begun, whole, held, aside] = [[], null, { at: 0, entries: [], asides: [] }, ""];
  showGhost(null);
  showAnswers(answers, owners, choose, hover);
  offer();
  $("advice").disabled = !present.view.can.advice;
  if (turn === "over" && inside && result && kind !== "analyse") $("verdict").focus({ preventScroll: true });
  else if (inside && active) $("asked").focus({ preventScroll: true });
}

/* Light these answers up in the list, and on the board where they begin. */
function hover(those) {
  const keys = those.flatMap((answer) => next(answer).map(({ action }) => action));
  light(keys);
  lightHand(keys);
  lightAnswers(those);
}

/* What is left of an answer after what was chosen on the board, [{action, text, places, decision}]; null if that is not a part of it. Answers to one decision may come in any order. */
function left({ actions, steps }) {
  const rest = steps.map((step, i) => ({ action: actions[i], ...step }));
  const added = offers.at(-1)?.size ?? 0; // the server has found answers with these actions, whatever comes between them
  for (const [i, action] of begun.entries()) {
    const at = rest.findIndex((step) => step.action === action && (i < added || next({ rest }).includes(step)));
    if (at < 0) return null;
    rest.splice(at, 1);
  }
  return rest;
}

/* What of an answer can be chosen next: what has a place comes in any order. */
function next(answer) {
  const rest = answer.rest ?? left(answer) ?? [], end = rest.findIndex(({ decision, places }) => decision !== rest[0].decision || !places.length);
  return end < 0 ? rest : rest.slice(0, Math.max(1, end));
}

/* The answers that have what was chosen. */
const open = () => (offers.at(-1)?.answers ?? present.view.answers).filter(left);

/* Offer on the board what comes next of the answers, and take no answer in the first moments. */
function offer() {
  const { turn, number, can } = present.view, seen = offers.at(-1)?.size ?? 0, starts = begun.length === seen;
  const all = [...new Map(open().flatMap(next).map((step) => [step.action, { ...step, key: step.action, words: step.text }])).values()];
  const step = guide?.guided(present.view, begun.length), end = whole && offers.at(-1)?.end?.steps.at(-1).name;
  const asides = starts && !step ? [...new Set(all.map((one) => one.aside))].filter(Boolean) : [];
  if (starts && !asides.includes(aside)) aside = "";
  const isMeant = ({ name }) => !step || step.isLast || (name === step.name && name !== end); // what the button gives is not to be chosen
  const entries = all.filter((one) => (!starts || one.aside === aside) && isMeant(one));
  const those = (keys) => open().filter((answer) => next(answer).some(({ action }) => keys.includes(action)));
  showAsked(present.view);
  holdHand(entries, asides);
  showHand(held.entries, begun[held.at], held.asides.map((words) => [words, words === aside]), pressHeld, turnAside, (keys) => hover(those(keys)));
  narrowAnswers(left, begun.length);
  const { actions, steps } = begun.length ? open()[0] : {};
  const chosen = begun.map((action, i) => ({ key: -1 - i, chosen: true, ...steps[actions.indexOf(action)] }));
  if (chosen.length && !whole) $("begun").textContent = `${capital(chosen.slice(seen).map(({ text }) => text).join(", "))} …`;
  $("undo").disabled = !can.undo && !begun.length;
  showCommit();
  const offered = new Set(entries.map(({ places }) => String(places[0])));
  const back = chosen.filter(({ places }) => !offered.has(String(places[0]))).map((one) => ({ ...one, words: `take back: ${one.text}`, places: one.places.slice(0, 1) }));
  mark = () => active && !isEditing() && !isTelling() && markPlaces([...entries, ...back], pick, (keys) => hover(those(keys)));
  mark();
  if (step) guide.showGuide(step, entries[0], whole && !entries.length, offer);
  else guide?.leaveGuide();
  document.body.dataset.begun = begun.length;
  if (turn === "others") return; // it is no one's turn here
  clearTimeout(settling);
  delete document.body.dataset.ready;
  settling = setTimeout(() => (document.body.dataset.ready = number), active ? questionCame() : 0);
}

/* The button that gives the answer; what it declines by that stands on it. */
function showCommit() {
  const end = whole && offers.at(-1)?.end;
  $("commit").disabled = !whole;
  $("commit").replaceChildren("Do it", ...(end ? [make("small", "", ` ${end.text}`)] : []));
}

/* Cards, and answers without a place, are offered beside the question. What was offered there stays while places are chosen. */
function holdHand(entries, asides) {
  const { hand } = present.view, isCard = ({ places }) => places.length > 0 && hand.includes(places[0].at(-1)[0]);
  const those = entries.filter((one) => isCard(one) || !one.places.length || one.aside);
  const isDrawn = ({ places }) => those.filter((one) => String(one.places[0]) === String(places[0])).length === 1; // one card's answers differ in words
  if (those.length || begun.length <= held.at) {
    held = { at: begun.length, asides, entries: those.map((one) => ({ ...one, picture: isCard(one) ? isDrawn(one) && pictureOf(one.places[0]) : null })) };
  }
}

/* Something beside the question was pressed: what is chosen there is taken back, and another one takes its place. */
function pressHeld(key, isHasty) {
  if (!active) return;
  const chosen = begun[held.at];
  if (chosen !== undefined) takeBack(held.at);
  if (chosen !== key) pick(key, isHasty);
}

function turnAside(words) {
  aside = words;
  takeBack(held.at);
}

/* What a click beside the places says: what lies there, and why it is no answer. */
onBeside((title) => {
  if (isEditing() || !present.view) return title;
  if (isTelling()) {
    skip(); // whoever points at the board has seen enough
    return "";
  }
  const { turn } = present.view, question = asking(present.view), placed = $("marks") ? "Only outlined places answer it." : "It is answered beside the board.";
  const why = { others: "It is somebody else's turn.", over: "The game is over." }[turn] ?? (active ? `This is no answer to “${question}”. ${placed}` : "");
  return [title && sentence(title), why].filter(Boolean).join(" ");
});

const inOrder = ({ actions }) => actions.every((action, i) => action === begun[i]);

/* An action was chosen on the board or beside the question. */
function pick(action, isHasty = false) {
  if (!active) return;
  answerGiven();
  skip();
  if (action < 0) return takeBack(-1 - action);
  begun = [...begun, action];
  hasty = isHasty;
  settle();
}

/* What is chosen has changed: it is an answer, whose outcome is shown until it is given, or the beginning of some. */
function settle() {
  const those = open(), ends = those.filter((answer) => !left(answer).length);
  const stop = those.find((answer) => answer.declines && left(answer).length === 1 && answer.steps.at(-2)?.decision === answer.steps.at(-1).decision);
  whole = null;
  if (begun.length) whole = those.length === 1 ? those[0] : (ends.find(({ continues_answer }) => continues_answer) ?? (ends.length === those.length ? (ends.find(inOrder) ?? ends[0]) : null));
  if (begun.length && stop) whole = { ...stop, actions: stop.actions.slice(0, -1), steps: stop.steps.slice(0, -1) }; // the button gives the rest
  if (whole && present.view.kind !== "play") give(whole.actions);
  else if (whole) prepare();
  else showOffers();
}

/* An answer of the list is given at once, unless something can be added to it, or something is lost by it. */
function choose(answer) {
  if (!active) return;
  skip();
  const asksMore = answer.continues_answer || answer.gives_up;
  if (answer === whole || present.view.kind !== "play" || !asksMore) return give(answer.actions);
  answerGiven();
  [whole, hasty] = [answer, false];
  prepare();
}

/* Find what the answer does, and what can be answered after it, by the same player and before anything unknown. */
async function prepare() {
  const { number } = present.view, { actions } = whole, answer = whole;
  active = false;
  let found = null;
  await attempt(async () => (found = await ask("preview", { view: number, actions })));
  if (present.view?.number !== number || working) return;
  active = true;
  if (!found) return takeBack(offers.at(-1)?.size ?? 0);
  foresee(found, answer);
  if (hasty || answer.declines) giveIfPlain();
}

/* Show what an answer does, and offer what can be answered after it. */
function foresee(found, answer) {
  const { actions } = answer, told = found.told.length ? found.told : [`${capital(answer.text)}.`], then = found.is_whole ? "" : "What follows is not known yet.";
  begun = actions;
  offers.push({
    ...found, size: actions.length, whole: answer, sentences: found.told, told: [answer.gives_up, ...told, gainWords(found.gains, present.view.owners), then].filter(Boolean).join(" "),
    answers: found.answers.length ? found.answers : [answer], end: found.answers.find((one) => one.declines && one.actions.length === actions.length + 1),
  });
  showOffers();
}

function advise() {
  skip(); // it is about the board as it is now
  askAdvice();
}

/* What an agent would do is chosen in place of what was. */
onTake((plan) => {
  if (!active) return;
  [offers, whole, hasty] = [[], plan.given, false];
  foresee(plan, plan.given);
});

/* Show what can be chosen now, on the board as it would be after the answers that are seen in advance. */
function showOffers() {
  const last = offers.at(-1);
  hideAdvice();
  showGhost(last?.parts, last ? last.board : null);
  $("begun").replaceChildren(...(last && whole ? named(last.told, present.view.owners) : []));
  showLesson(present.view, offers.findLast(({ lesson }) => lesson)?.lesson ?? present.view.lesson);
  showAnswers(last?.answers ?? present.view.answers, present.view.owners, choose, hover);
  offer();
  if (whole) $("commit").focus({ preventScroll: true });
  else if (document.activeElement === document.body) ($("marks")?.querySelector("[tabindex='0']") ?? $("asked")).focus({ preventScroll: true });
}

/* Who presses twice gives the answer, if nothing can be chosen after it and nothing is lost by it. */
function giveIfPlain() {
  hasty = true;
  const last = offers.at(-1);
  if (active && whole && last?.whole === whole && last.answers[0] === whole && !whole.gives_up) give(whole.actions);
}

onTwice(giveIfPlain);

function deactivate() {
  active = false;
  clearTimeout(settling);
  for (const fact of ["ready", "begun"]) delete document.body.dataset[fact];
  clearMarks();
  disableAnswers();
  disableHand();
  [offers, whole] = [[], null];
  showCommit();
  $("begun").textContent = "";
  $("advice").disabled = $("undo").disabled = true;
}

async function give(actions) {
  if (!active) return;
  const { number } = present.view;
  answerGiven();
  skip(); // whoever answers has seen enough
  foreseen(offers.at(-1)?.sentences ?? []);
  deactivate();
  if (review?.isRetrying()) {
    await attempt(() => review.tryAnswer(actions));
    if (!working && present.view?.number === number) activate();
  } else if ((await attemptAt(number, () => ask("answer", { view: number, actions }))) && !working && present.view?.number === number) {
    // somebody is asked in secret: until that is over, no view tells what the answer did
    arrive({ ...present.view, turn: "others", asked: "Your answer is given.", actor: -1, answers: [], lesson: null });
    activate();
  }
}

/* Do what may fail; where nothing has changed then, that view can be answered again. */
async function attemptAt(number, act) {
  const done = await attempt(act);
  if (!done && !working && present.view?.number === number) activate();
  return done;
}

/* Take back what was begun on the board, or what was answered last. */
async function undo() {
  if (begun.length && active) return takeBack(begun.length - 1);
  if (!present.view?.can.undo || working) return;
  const { number } = present.view;
  skip();
  deactivate();
  await attemptAt(number, () => ask("undo", { view: number }));
}

/* Only so much of what was chosen stays; less, if there is only one way to go on. */
function takeBack(number) {
  begun = begun.slice(0, number);
  while (offers.length && number < offers.at(-1).size) offers.pop();
  const last = offers.at(-1);
  hasty = false;
  if (last?.size === number) {
    [whole, begun] = [last.whole, last.whole.actions];
    showOffers();
  } else if (number && open().length === 1) takeBack(number - 1);
  else settle();
}

const giveAlone = (on) => attempt(() => ask("alone", { give: on }));
$("alone-answers").checked = setting("alone", true);
$("alone-answers").addEventListener("change", ({ target }) => {
  remember("alone", target.checked);
  if (present.connection) giveAlone(target.checked);
});

/* --- another person's turn at this screen --- */

function hide(view) {
  clearStory();
  clearBoard();
  showAnswers([], [], () => {}, () => {});
  $("hand").replaceChildren(); // it has cards of who was asked before
  $("asked").textContent = `${view.for} is asked.`;
  $("learning").hidden = $("result").hidden = true;
  showSeats(view);
  $("curtain-text").textContent = `${view.for}, press when nobody else looks.`;
  if (plays() && !$("curtain").open) $("curtain").showModal();
  $("here").focus();
  document.body.dataset.ready = view.number;
}

$("here").addEventListener("click", () => attemptAt(present.view.number, () => ask("here")));
$("curtain").addEventListener("cancel", (event) => event.preventDefault());
$("curtain").addEventListener("close", () => {
  if (present.view?.turn === "handover" && present.connection) $("curtain").showModal();
});

/* --- what else can be done --- */

$("commit").addEventListener("click", () => whole && give((offers.at(-1)?.end ?? whole).actions));
for (const id of ["undo", "undo-end"]) $(id).addEventListener("click", undo);
for (const id of ["lesson", "introduction"]) {
  // the click comes before it opens or closes
  $(id).querySelector("summary").addEventListener("click", () => remember(id, !$(id).open));
}
$("advice").addEventListener("click", advise);
$("skip").addEventListener("click", skip);
$("save").addEventListener("click", () => save("replay"));
$("save-page").addEventListener("click", () => save("page"));
$("analyse-game").addEventListener("click", () => analyseAt(0));
$("again").addEventListener("click", () => attempt(async () => present.leave({ table: (await ask("again")).path, kept: null })));
$("show-links").addEventListener("click", () => present.leave({ links: links.links }));

/* What a key does here; whether it did something. */
export function tableKey(key) {
  const shown = present.view;
  if (!shown) return false;
  if (isEditing()) return key === "Escape" && (leaveEditor(), true);
  if (key === " " && isTelling() && shown.kind !== "watch") return skip(), true;
  if (shown.kind === "watch" && key === " ") return toggleWatch(), true;
  if (shown.kind === "watch" && key === "ArrowRight") return stepWatch(), true;
  if (key === "+" || key === "=") return faster(1), true;
  if (key === "-") return faster(-1), true;
  if (shown.kind === "analyse" && moveInLine(key)) return true;
  if (key === "Escape" && begun.length && active) return undo(), true;
  if (key === "Escape" && isTelling()) return skip(), true;
  if (key === "Escape" && forgetAdvice()) return true;
  if (key === "u") return undo(), true;
  if (key === "?") return advise(), true;
  if (key === "/") return startFilter();
  return typed(key);
}
