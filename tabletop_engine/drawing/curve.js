/* The curve of what an agent expects over a game, which one can point at: for the replay's page and the games' page. */

import { draw } from "./elements.js";

const MARGIN = { left: 46, right: 14, top: 12, bottom: 18 }; // for numbers and shapes
const RISES = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

export const isChance = (estimated) => /chance|probab|share/i.test(estimated);

/* What an agent expects, as a number: chances as percents, points as they are. */
export function estimateWords(number, estimated) {
  if (!isChance(estimated)) return `${number >= 0 ? "+" : "−"}${Math.abs(number).toFixed(1)}`;
  return number > 0 && number < 0.001 ? "under\u00a00.1\u00a0%" : `${(100 * number).toFixed(1)}\u00a0%`;
}

/* How much was given away. */
export const dropWords = (drop, estimated) =>
  isChance(estimated) ? `${drop < 0.001 ? "" : "−"}${estimateWords(drop, estimated)}` : `−${Math.abs(drop).toFixed(1)}`;

/* Drops that are more than the noise of a review. */
export const isMistake = ({ drop }, estimated) => drop >= (isChance(estimated) ? 0.02 : 0.5);

function bounds(points, moments, estimated) {
  if (isChance(estimated)) return { low: 0, high: 1, rise: 0.25 };
  const values = [...points.map((one) => one.estimate), ...moments.map((one) => one.best)];
  const least = Math.min(0, ...values), most = Math.max(1, ...values);
  const rise = RISES.find((one) => (most - least) / one <= 5) ?? most - least;
  return { low: Math.floor(least / rise) * rise, high: Math.ceil(most / rise) * rise, rise };
}

export class Curve {
  /* go(step, sure): somebody wants to see the decision at a step; sure unless keys only move along the curve. */
  constructor(element, told, go) {
    Object.assign(this, { element, told, go, shown: null, width: 0 });
    element.tabIndex = 0;
    element.setAttribute("role", "slider");
    element.setAttribute("aria-valuemin", 0);
    element.addEventListener("click", (event) => this.point(event, true));
    element.addEventListener("pointermove", (event) => this.point(event, false));
    element.addEventListener("pointerleave", () => this.tell(this.near(this.shown?.at ?? 0)));
    element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => {
      if (element.clientWidth !== this.width) this.draw();
    }).observe(element);
  }

  /* content: {points: [{step, by, estimate}], moments: [{step, by, estimate, best, drop}], owners, estimated, last, at,
     until}: the game has `last` steps, the page is at one of them, and what comes after `until` is not shown yet. */
  show(content) {
    this.shown = content;
    this.draw();
  }

  /* The decision that a step belongs to: its own, or the last one before it. */
  near(step) {
    const { points } = this.shown ?? { points: [] };
    return points.findLast((one) => one.step <= step) ?? points[0];
  }

  x(step) {
    return MARGIN.left + (step / Math.max(1, this.shown.last)) * (this.width - MARGIN.left - MARGIN.right);
  }

  draw() {
    this.width = this.element.clientWidth;
    if (!this.shown || !this.width) return;
    const { points, moments, owners, estimated, last, at, until } = this.shown;
    const { width } = this, height = this.element.clientHeight, floor = height - MARGIN.bottom;
    const seats = [...new Set(points.map(({ by }) => by))].sort();
    const { low, high, rise } = bounds(points, moments, estimated);
    const y = (value) => MARGIN.top + ((high - value) / (high - low)) * (floor - MARGIN.top);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    for (let value = low; value <= high + rise / 2; value += rise) {
      const words = isChance(estimated) ? `${Math.round(100 * value)} %` : String(Math.round(10 * value) / 10).replace("-", "−");
      svg.append(draw("path", { class: "grid", d: `M${MARGIN.left} ${y(value).toFixed(1)}H${width - MARGIN.right}` }));
      svg.append(draw("text", { x: MARGIN.left - 6, y: (y(value) + 4).toFixed(1), "text-anchor": "end" }, words));
    }
    for (const [step, anchor] of [[0, "start"], [last, "end"]]) {
      svg.append(draw("text", { x: this.x(step).toFixed(1), y: height - 4, "text-anchor": anchor }, `step ${step}`));
    }
    svg.append(draw("path", { class: "here", d: `M${this.x(at).toFixed(1)} ${MARGIN.top - 6}V${floor}` }));
    const ends = [];
    for (const by of seats) {
      const own = points.filter((one) => one.by === by && one.step <= until);
      if (!own.length) continue;
      const d = `M${own.map(({ step, estimate }) => `${this.x(step).toFixed(1)} ${y(estimate).toFixed(1)}`).join("L")}`;
      svg.append(draw("path", { class: "under", d }), draw("path", { class: "line", d, stroke: owners[by].colour }));
      const end = own.at(-1);
      ends.push(draw("use", { href: `#${owners[by].shape}`, transform: `translate(${this.x(end.step).toFixed(1)} ${y(end.estimate).toFixed(1)})scale(0.4)` }));
    }
    svg.append(...ends);
    for (const { step, estimate, best } of moments) {
      if (step > until) continue;
      const x = this.x(step).toFixed(1);
      svg.append(draw("path", { class: "lost", d: `M${x} ${y(best).toFixed(1)}V${y(estimate).toFixed(1)}` }));
      svg.append(draw("circle", { class: "mistake", "data-step": step, cx: x, cy: y(estimate).toFixed(1), r: 5.5 }));
    }
    this.element.replaceChildren(svg);
    this.element.setAttribute("aria-label", `${estimated} over the game`);
    this.element.setAttribute("aria-valuemax", last);
    this.element.setAttribute("aria-valuenow", at);
    this.tell(this.near(at));
    this.element.setAttribute("aria-valuetext", this.told.textContent || `step ${at}`);
  }

  /* What is expected after a decision, in words below the curve. */
  tell(point) {
    if (!point || point.step > this.shown.until) {
      this.told.textContent = "";
      return;
    }
    const { moments, owners, estimated } = this.shown, lost = moments.find(({ step }) => step === point.step);
    const words = `Step ${point.step + 1}, ${owners[point.by].name}: ${estimated} ${estimateWords(point.estimate, estimated)}`;
    this.told.textContent = words + (lost ? `. A mistake: ${dropWords(lost.drop, estimated)}.` : ".");
  }

  point(event, sure) {
    if (!this.shown?.points.length) return;
    const at = event.clientX - this.element.getBoundingClientRect().left;
    const apart = ({ step }) => Math.abs(this.x(step) - at);
    const { points, moments } = this.shown, by = (a, b) => (apart(b) < apart(a) ? b : a);
    const mistake = moments.length ? moments.reduce(by) : null;
    const found = mistake && apart(mistake) < 8 ? mistake : points.reduce(by);
    if (sure) this.go(found.step, true);
    else this.tell(points.find(({ step }) => step === found.step));
  }

  key(event) {
    if (!this.shown || event.ctrlKey || event.altKey || event.metaKey) return;
    const { points, moments, at } = this.shown;
    const steps = points.map(({ step }) => step), marked = moments.map(({ step }) => step).sort((a, b) => a - b);
    const after = (all) => all.find((step) => step > at), before = (all) => all.findLast((step) => step < at);
    const to = {
      ArrowRight: after(steps), ArrowUp: after(steps), ArrowLeft: before(steps), ArrowDown: before(steps),
      PageUp: after(marked), PageDown: before(marked), Home: steps[0], End: steps.at(-1), Enter: at, " ": at,
    };
    if (!(event.key in to)) return;
    event.preventDefault();
    event.stopPropagation(); // these keys do something else beside the curve
    if (to[event.key] !== undefined) this.go(to[event.key], ["Enter", " "].includes(event.key));
  }
}
