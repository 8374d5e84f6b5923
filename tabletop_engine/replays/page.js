/* After `elements.js`, in one script. */

const data = JSON.parse(document.getElementById("replay").textContent);
const { steps, owners, texts, strokes, tags, parts } = data;
const last = steps.length - 1;
const ink = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
const say = (number) => texts[number];

let step = -1;
let timer = 0;

/* --- the board --- */

const markup = new Map();

function part(number) {
  if (!markup.has(number)) {
    const outline = (_, numbers) => ` d="${numbers.split(".").map((i) => strokes[i]).join("")}"`;
    markup.set(number, parts[number].map((i) => "<" + tags[i].replace(/ d="~([\d.]+)"/, outline)).join(""));
  }
  return markup.get(number);
}

function showBoard(before) {
  const { board } = steps[step];
  $("board").innerHTML = board.map(part).join("");
  const svg = $("board").firstElementChild;
  if (before >= 0) {
    const known = new Set(steps[before].board);
    [...svg.children].forEach((child, i) => child.classList.toggle("fresh", !known.has(board[i + 1])));
  }
  svg.querySelector(":scope > title")?.remove(); // it would pop up wherever the mouse rests
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `The board at step ${step}. ${say(steps[step].asked)}`);
}

/* --- words --- */

function showWords() {
  const { by, done, changes, asked, actor, options, round, rounds, phase } = steps[step];
  $("place").replaceChildren(
    make("b", "", `Step ${step} of ${last}`),
    make("br"),
    make("span", "", rounds > 1 ? ` round ${round} of ${rounds}` : ""),
    make("span", "phase", say(phase) && `${rounds > 1 ? "," : ""} ${say(phase)}`),
  );
  const who = by < 0 ? [] : [token(owners[by]), `${owners[by].name}: `];
  $("action").replaceChildren(...who, ...(step ? named(who.length ? say(done) : sentence(say(done)), owners) : ["The start of the game."]));
  $("changes").replaceChildren(...changes.map((number) => make("li", "", ...named(say(number), owners))));
  $("decision-title").textContent = step === last && data.winners ? "The end" : "Next decision";
  $("asked").replaceChildren(...(actor < 0 ? [] : [token(owners[actor])]), say(asked));
  $("options").replaceChildren(...(options ? optionItems(options) : []));
}

function optionItems({ taken, shown, others }) {
  if (!shown) return [option(say(taken), "", 0, "taken")];
  const items = shown.map(([words, share, chosen]) =>
    option(say(words), share ? percent(share) : "under 0.1 %", share, chosen ? "taken" : ""));
  if (others[0]) {
    const words = others[0] === 1 ? "1 other action" : `${others[0]} other actions`;
    items.push(option(words, percent(others[1]), others[1], "others"));
  }
  return items;
}

const percent = (thousandths) => `${(thousandths / 10).toFixed(1)} %`;

function option(words, share, thousandths, className) {
  const bar = make("span", "bar");
  bar.style.width = `${thousandths / 10}%`;
  const mark = className === "taken" ? [make("span", "unseen", " (taken)")] : [];
  return make("li", className, bar, make("span", "words", ...named(words, owners), ...mark), make("span", "share", share));
}

function describeGame() {
  const end = steps[last];
  $("result").textContent = data.result;
  $("about").textContent = data.about;
  $("until").textContent = data.winners ? "end" : "so far";
  $("owners").replaceChildren(...owners.map((owner, number) => {
    const label = make("span", "", token(owner), make("span", "", owner.name));
    if (owner.seat !== owner.name) label.lastChild.append(" ", make("span", "seat", owner.seat));
    if (data.winners?.includes(number)) label.lastChild.append(" ", make("span", "won ending", "★ wins"));
    const head = make("th", "", label);
    head.scope = "row";
    return make("tr", "", head, make("td", "now"), make("td", "end ending", String(end.points[number])));
  }));
}

/* How the game ends is seen at its last step, or on request. */
let revealed = false;
const endIsSeen = () => revealed || step === last;

function showEnd() {
  document.body.classList.toggle("hides-end", !endIsSeen());
  $("reveal").hidden = step === last;
  $("reveal").textContent = revealed ? "Hide the end" : "Show the end";
}

function showPoints() {
  const { points, actor } = steps[step];
  [...$("owners").rows].forEach((row, owner) => {
    row.cells[1].textContent = points[owner];
    row.classList.toggle("asked", owner === actor);
  });
}

/* --- the chart --- */

const LEFT = 30, RIGHT = 16, TOP = 14, BOTTOM = 20;
const roundStarts = steps.flatMap(({ round }, i) => (i === 0 || round !== steps[i - 1].round ? [i] : []));
const roundEnds = [...roundStarts.slice(1), last];
let scale = null;

function measure() {
  const { clientWidth: width, clientHeight: height } = $("chart");
  const all = steps.flatMap(({ points }) => points);
  const low = Math.min(0, ...all), high = Math.max(5, ...all);
  const rise = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000].find((n) => (high - low) / n <= 6) ?? 5000;
  const top = Math.ceil(high / rise) * rise, bottom = Math.floor(low / rise) * rise;
  scale = {
    width, height, rise, top, bottom,
    x: (i) => LEFT + (i / Math.max(1, last)) * (width - LEFT - RIGHT),
    y: (points) => TOP + ((top - points) / Math.max(1, top - bottom)) * (height - TOP - BOTTOM),
  };
}

/* The points of an owner from one step to another, as a path of level lines. */
function line(owner, from, to) {
  let d = `M${scale.x(from).toFixed(1)} ${scale.y(steps[from].points[owner]).toFixed(1)}`;
  for (let i = from + 1; i <= to; i++) {
    if (i === to || steps[i].points[owner] !== steps[i - 1].points[owner]) {
      d += `H${scale.x(i).toFixed(1)}V${scale.y(steps[i].points[owner]).toFixed(1)}`;
    }
  }
  return d;
}

function lines(from, to, opacity) {
  const drawn = owners.map(({ colour }, owner) => {
    const d = line(owner, from, to);
    const common = 'fill="none" stroke-linejoin="round"';
    return `<path d="${d}" ${common} stroke="${ink}" stroke-width="4.6"/>` +
      `<path d="${d}" ${common} stroke="${colour}" stroke-width="3"/>`;
  });
  return `<g opacity="${opacity}">${drawn.join("")}</g>`;
}

/* Owners' shapes at a step, at their points; side by side where they would cover each other. */
function tokens(at, size, apart) {
  const { points } = steps[at];
  const placed = [];
  const uses = owners.map(({ shape }, owner) => {
    const y = scale.y(points[owner]);
    const free = (x) => placed.every((other) => Math.abs(other.x - x) >= apart - 1 || Math.abs(other.y - y) >= apart);
    const sides = at > last / 2 ? [0, -1, 1, -2, 2, -3, -4] : [0, 1, -1, 2, -2, 3, 4];
    const x = scale.x(at) + apart * (sides.find((side) => free(scale.x(at) + apart * side)) ?? 0);
    placed.push({ x, y });
    return `<use href="#${shape}" transform="translate(${x.toFixed(1)} ${y.toFixed(1)})scale(${size})"/>`;
  });
  return uses.reverse().join("");
}

function showChart() {
  if (!scale || !scale.width) return;
  const { width, height, rise, top, bottom, x, y } = scale;
  const floor = height - BOTTOM;
  const bands = roundStarts.map((start, i) => {
    const from = x(start), wide = x(roundEnds[i]) - from;
    const label = steps[start].rounds === 1 ? "" : wide > 54 ? `round ${steps[start].round}` : steps[start].round;
    return `<rect x="${from.toFixed(1)}" y="${TOP}" width="${Math.max(0, wide).toFixed(1)}" height="${floor - TOP}" fill="${i % 2 ? "#ffffff" : "#f1f5f8"}"/>` +
      `<text x="${(from + wide / 2).toFixed(1)}" y="${height - 5}" text-anchor="middle">${label}</text>`;
  });
  const grid = [];
  for (let value = bottom; value <= top; value += rise) {
    const at = y(value).toFixed(1);
    grid.push(`<path d="M${LEFT} ${at}H${width - RIGHT}" stroke="#d5dde4"/>` +
      `<text x="${LEFT - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${value}</text>`);
  }
  const { points } = steps[step];
  const told = owners.map(({ name }, owner) => `${name} ${points[owner]}`).join(", ");
  const here = x(step).toFixed(1);
  const marker = `<path d="M${here} ${TOP - 6}V${floor}" stroke="${ink}" stroke-width="1.5" stroke-dasharray="4 3"/>`;
  $("chart").innerHTML = `<svg role="img" viewBox="0 0 ${width} ${height}">${bands.join("")}${grid.join("")}` +
    (step < last && endIsSeen() ? lines(step, last, 0.3) : "") + (step ? lines(0, step, 1) : "") +
    roundEnds.filter((end) => end <= step || endIsSeen())
      .map((end) => `<g opacity="${end < step ? 1 : 0.5}">${tokens(end, 0.3, 0)}</g>`).join("") +
    `<g id="marker" data-step="${step}" data-points="${points}" data-x="${here}">${marker}${tokens(step, 0.48, 12)}</g></svg>`;
  $("chart").firstChild.setAttribute("aria-label", `Points by step; at step ${step}: ${told}`);
}

/* --- the curve of a review --- */

const { review } = data;
const curve = review && new Curve($("curve"), $("curve-told"), (to) => move(to));

function showReview() {
  if (!review) return;
  const { agent, estimated, points, moments } = review;
  $("review").hidden = false;
  $("review-title").textContent = `${sentence(estimated).replace(/\.$/, "")}, by ${agent}`;
  const mistakes = moments.filter((moment) => isMistake(moment, estimated));
  curve.show({ points, moments: mistakes, owners, estimated, last, at: step, until: endIsSeen() ? last : step });
  const here = moments.find((moment) => moment.step === step);
  $("better").textContent = here ? `Better here: ${say(here.better)} (${dropWords(here.drop, estimated)} otherwise).` : "";
}

function jump(event) {
  const { left } = $("chart").getBoundingClientRect();
  const share = (event.clientX - left - LEFT) / (scale.width - LEFT - RIGHT);
  pause();
  go(Math.round(share * last));
}

/* --- moving --- */

function go(to) {
  const before = step;
  step = Math.max(0, Math.min(last, to));
  if (step === before) return;
  document.body.dataset.step = step;
  showBoard(before);
  showWords();
  showEnd();
  showPoints();
  showChart();
  showReview();
  const slider = $("slider");
  slider.value = step;
  slider.setAttribute("aria-valuetext", `step ${step} of ${last}, round ${steps[step].round}`);
  $("first").disabled = $("back").disabled = step === 0;
  $("next").disabled = $("last").disabled = step === last;
  [...$("rounds").children].forEach((mark, i) => {
    mark.classList.toggle("now", step >= roundStarts[i] && (i + 1 === roundStarts.length || step < roundStarts[i + 1]));
  });
  try {
    history.replaceState(null, "", `#${step}`); // so that a link, and loading anew, lead to the same step
  } catch {
    // not allowed in some frames
  }
}

function goRound(forward) {
  const to = forward ? roundStarts.find((start) => start > step) : roundStarts.findLast((start) => start < step);
  go(to ?? (forward ? last : 0));
}

function setPlaying(playing) {
  document.body.dataset.playing = playing;
  $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  $("sign").setAttribute("d", playing ? "M7 5v14h3.500V5zM14 5v14h3.500V5z" : "M8 5v14l11-7z");
  $("done").setAttribute("aria-live", playing ? "off" : "polite");
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  setPlaying(false);
}

function play() {
  if (step === last) go(0);
  setPlaying(true);
  schedule();
}

function schedule() {
  clearTimeout(timer);
  document.body.style.setProperty("--fade", `${Math.min(0.35, 0.5 / $("speed").value)}s`);
  timer = setTimeout(() => {
    go(step + 1);
    if (step === last) pause();
    else schedule();
  }, 1000 / $("speed").value);
}

const toggle = () => (timer ? pause() : play());

function faster(by) {
  const speed = $("speed");
  speed.selectedIndex = Math.max(0, Math.min(speed.options.length - 1, speed.selectedIndex + by));
  if (timer) schedule();
}

const KEYS = {
  " ": toggle,
  ArrowLeft: () => move(step - 1),
  ArrowRight: () => move(step + 1),
  Home: () => move(0),
  End: () => move(last),
  r: () => (pause(), goRound(true)),
  R: () => (pause(), goRound(false)),
  "+": () => faster(1),
  "=": () => faster(1),
  "-": () => faster(-1),
};

function move(to) {
  pause();
  go(to);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
  if (event.key === " " && event.target.tagName === "BUTTON") return; // presses the button
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

$("first").addEventListener("click", KEYS.Home);
$("back").addEventListener("click", KEYS.ArrowLeft);
$("play").addEventListener("click", toggle);
$("next").addEventListener("click", KEYS.ArrowRight);
$("last").addEventListener("click", KEYS.End);
$("slider").addEventListener("input", () => move(Number($("slider").value)));
$("speed").addEventListener("change", () => faster(0));
$("zoom").addEventListener("click", () => {
  const large = $("board").classList.toggle("large");
  $("zoom").setAttribute("aria-pressed", large);
});
$("reveal").addEventListener("click", () => {
  revealed = !revealed;
  showEnd();
  showChart();
  showReview();
});
$("chart").addEventListener("pointerdown", (event) => {
  $("chart").setPointerCapture(event.pointerId);
  jump(event);
});
$("chart").addEventListener("pointermove", (event) => {
  if (event.buttons) jump(event);
});

/* The step that the address asks for: `…#12`. */
const addressed = () => Math.trunc(Number(location.hash.slice(1))) || 0;

function markRounds() {
  $("slider").max = last;
  $("rounds").hidden = steps[0].rounds === 1;
  $("rounds").replaceChildren(...roundStarts.map((start, i) => {
    const mark = make("button", "", String(steps[start].round));
    mark.type = "button";
    mark.tabIndex = -1; // by keyboard: R
    mark.setAttribute("aria-label", `Round ${steps[start].round}`);
    mark.style.left = `${(100 * start) / Math.max(1, last)}%`;
    mark.style.width = `${(100 * (roundEnds[i] - start)) / Math.max(1, last)}%`;
    mark.addEventListener("click", () => move(start));
    return mark;
  }));
}

/* What stands above and below the board in a large window: the square is as large as the rest of the height. */
function measureAround() {
  const gap = parseFloat(getComputedStyle(document.body).paddingBottom);
  const top = document.querySelector("main").getBoundingClientRect().top + scrollY;
  const around = top + $("controls").getBoundingClientRect().height + 2 * gap;
  document.documentElement.style.setProperty("--around", `${Math.ceil(around)}px`);
}

describeGame();
markRounds();
setPlaying(false);
measureAround();
measure();
go(addressed());
new ResizeObserver(() => {
  const mark = $("rounds").firstElementChild;
  mark.textContent = `${mark.offsetWidth > 64 ? "Round " : ""}${steps[0].round}`;
  measure();
  showChart();
}).observe($("chart"));
const aroundChanges = new ResizeObserver(() => requestAnimationFrame(measureAround));
aroundChanges.observe(document.querySelector("header"));
aroundChanges.observe($("controls"));
window.addEventListener("hashchange", () => move(addressed()));
