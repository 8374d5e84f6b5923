/* Fields for the values of a position, made from its form.

Each is an element with `data-where`, its place in the description such as `field.b1.drops`, and `show()`, which shows the
present value. `at` is what they belong to: {position, owners, change(path, value)}.
*/

import { button, capital, make, makeInput, newId, spaced, token } from "./dom.js";
import { whereOf } from "./position.js";

const LEFT = "–"; // what a field shows that has no value
const NONE = "none";
const FEW = 8; // names that need no fold, and answers that are all shown

const ownerOf = (at, name) => at.owners.find(({ seat }) => seat === name);

/* What a value is called: by its form, its owner, or its key. */
export function called(at, path) {
  const key = path.at(-1), node = at.position.node(path);
  if (node.words) return withNames(at, node.words);
  return ownerOf(at, key)?.name ?? (Number.isInteger(key) ? String(key + 1) : capital(spaced(key)));
}

/* What it is called where nothing around it says more. */
export function calledInFull(at, path) {
  const upTo = path.map((_, i) => path.slice(0, i + 1));
  const from = Math.max(0, upTo.findLastIndex((one) => at.position.node(one).place));
  const outer = from && !at.position.node(upTo[from]).words ? [upTo[0]] : [];
  return [...outer, ...upTo.slice(from)].map((one) => called(at, one)).join(", ");
}

export const withNames = (at, text) => at.owners.reduce((all, { seat, name }) => all.replaceAll(new RegExp(`\\b${seat}\\b`, "g"), () => name), text);

export function field(at, path, inPanel = false) {
  const node = at.position.node(path), made = KINDS[node.kind](at, path, node, inPanel);
  made.dataset.where = whereOf(path);
  return made;
}

/* Show in all fields of an element what is given now. */
export function refresh(holder) {
  for (const one of holder.querySelectorAll("[data-where]")) if (one.isConnected) one.show?.();
}

const KINDS = {
  /* A switch of the game that is played. */
  fixed() {
    const made = make("div", "field");
    made.hidden = true;
    return made;
  },

  number(at, path, { low, high, none, usual, follows }) {
    const input = makeInput("number", { inputMode: "numeric", min: low, max: high, step: 1, autocomplete: "off" });
    const noneBox = makeInput("checkbox"), { position } = at;
    const put = (value) => {
      at.change(path, value);
      show();
    };
    const now = () => position.value(path) ?? usual;
    const by = (step, sign, meant) => {
      const one = button(sign, () => put(Math.max(low, Math.min(high, (Number(now()) || 0) + step))));
      one.setAttribute("aria-label", `${meant}: ${called(at, path)}`);
      return one;
    };
    const made = labelled(at, path, input, make("span", "step", by(-1, "−", "One less"), input, by(1, "+", "One more")));
    // what is no whole number goes to the server as it is, which says what would be right
    input.addEventListener("input", () => at.change(path, input.value.trim() === "" && !input.validity.badInput ? undefined : asNumber(input.value)));
    if (none) {
      noneBox.addEventListener("input", () => put(noneBox.checked ? null : undefined));
      made.append(make("label", "none", noneBox, NONE));
    }
    const show = () => {
      const left = follows && !position.isGiven(path);
      input.placeholder = left ? (now() ?? LEFT) : LEFT;
      if (document.activeElement !== input) input.value = left ? "" : (now() ?? "");
      noneBox.checked = now() === null;
      input.disabled = none === true && noneBox.checked && !left;
    };
    made.show = show;
    show();
    return made;
  },

  switch(at, path, node, inPanel) {
    return choice(at, path, node, [["Yes", true], ["No", false]], inPanel);
  },

  choice(at, path, node, inPanel) {
    const options = node.names.map((name, i) => [ownerOf(at, name)?.name ?? capital(node.labels?.[i] ?? spaced(name)), name]);
    return choice(at, path, node, node.none ? [[capital(NONE), null], ...options] : options, inPanel);
  },

  names(at, path, { names }) {
    const chosen = () => at.position.value(path) ?? [];
    const boxes = names.map((name) => {
      const box = makeInput("checkbox");
      box.addEventListener("input", () => at.change(path, names.filter((one) => (one === name ? box.checked : chosen().includes(one)))));
      return [name, box];
    });
    const labels = make("div", "boxes", ...boxes.map(([name, box]) => make("label", "", box, ownerOf(at, name)?.name ?? spaced(name))));
    const made = names.length > FEW ? folded(at, path, labels) : make("fieldset", "field wide", make("legend", "label", called(at, path)), labels);
    made.append(...left(at, path));
    made.show = () => boxes.forEach(([name, box]) => (box.checked = chosen().includes(name)));
    made.show();
    return made;
  },

  list(at, path, { longest, shortest = 0 }, inPanel) {
    const holder = make("div", "items"), state = make("p", "hint"), { position } = at;
    const items = () => position.value(path) ?? [];
    const put = (those) => {
      at.change(path, those);
      show();
    };
    const row = (_, i) => {
      const one = make("div", "item", field(at, [...path, i]));
      if (items().length > shortest) {
        const remove = button("×", () => put(items().filter((other, j) => j !== i)), "remove");
        remove.setAttribute("aria-label", `Remove from ${called(at, path)}: ${i + 1}`);
        one.append(remove);
      }
      return one;
    };
    const add = button("Add", () => {
      const more = Math.max(1, shortest - items().length), blank = position.node(path).of;
      put([...items(), ...Array.from({ length: more }, () => (blank.kind === "table" ? {} : blank.none ? null : (blank.names?.[0] ?? blank.low ?? null)))]);
      holder.lastChild.querySelector("input, select").focus();
    }, "small");
    const show = () => {
      if (holder.children.length !== items().length) holder.replaceChildren(...items().map(row));
      state.textContent = items().length ? "" : "empty";
      add.hidden = items().length >= longest;
    };
    const made = (inPanel ? unfolded : folded)(at, path, holder, state, make("div", "actions", add), ...left(at, path));
    made.show = show;
    show();
    return made;
  },

  table(at, path, { keys }, inPanel) {
    const fields = Object.keys(keys).map((key) => field(at, [...path, key], inPanel));
    const simple = fields.filter((made) => !made.matches("details")), groups = fields.filter((made) => made.matches("details"));
    const inner = [...(simple.length ? [make("div", "fields", ...simple)] : []), ...groups, ...left(at, path)];
    // numbers by name need no fold of their own within another group
    const flat = inPanel || (path.length > 1 && !groups.length && simple.every((made) => made.matches(".field")));
    return (flat ? unfolded : folded)(at, path, ...inner);
  },
};

function asNumber(text) {
  return /^-?\d+$/.test(text.trim()) ? Number(text.trim()) : text;
}

const legend = (at, path) => {
  const owner = ownerOf(at, path.at(-1));
  return [...(owner ? [token(owner, "token small")] : []), called(at, path)];
};

const folded = (at, path, ...children) => make("details", "", make("summary", "", ...legend(at, path)), ...children);
const unfolded = (at, path, ...children) => make("fieldset", "group", make("legend", "", ...legend(at, path)), ...children);

function labelled(at, path, input, shown = input) {
  input.id = newId();
  const label = make("label", "", ...legend(at, path));
  label.htmlFor = input.id;
  return make("div", "field", label, shown);
}

/* What is given as a whole can be left to the rules again. */
function left(at, path) {
  if (!at.position.node(path).follows) return [];
  const back = button("Leave it to the rules", () => at.change(path, undefined), "small"), hint = make("p", "hint", "This follows from the rest.");
  const made = make("div", "left", back, hint);
  made.dataset.where = ""; // so that it is shown anew with the others
  made.show = () => {
    back.hidden = !at.position.isGiven(path);
    hint.hidden = !back.hidden;
  };
  made.show();
  return [made];
}

/* One of some values, or none: left out. */
function choice(at, path, node, options, inPanel) {
  const { position } = at;
  const blank = () => {
    if (!node.follows) return node.blank ? capital(node.blank) : LEFT;
    const there = position.isGiven(path) ? undefined : options.find(([, value]) => value === position.value(path));
    return there ? `By the rules: ${there[0]}` : "By the rules";
  };
  const chosen = () => {
    if (node.follows && !position.isGiven(path)) return -1;
    const value = position.value(path);
    return value === undefined ? -1 : options.findIndex(([, one]) => one === value || (value !== null && String(one) === String(value)));
  };
  const put = (i) => at.change(path, i < 0 ? undefined : options[i][1]);
  if (inPanel && options.length <= FEW) {
    const name = newId();
    const chips = [[LEFT, undefined], ...options].map(([text], i) => {
      const input = makeInput("radio", { name }), shown = make("span", "", text);
      input.addEventListener("input", () => put(i - 1));
      return { input, shown, made: make("label", "", input, shown) };
    });
    const made = make("fieldset", "field wide", make("legend", "label", ...legend(at, path)), make("div", "chips", ...chips.map((one) => one.made)));
    made.show = () => {
      chips[0].shown.textContent = blank();
      chips[0].made.hidden = blank() === LEFT;
      chips[chosen() + 1].input.checked = true;
    };
    made.show();
    return made;
  }
  const select = make("select", "", new Option(LEFT, -1), ...options.map(([text], i) => new Option(text, i)));
  const made = labelled(at, path, select);
  select.addEventListener("change", () => put(Number(select.value)));
  made.show = () => {
    select.options[0].textContent = blank();
    select.value = chosen();
  };
  made.show();
  return made;
}

/* Say beside a field what is wrong with it, there or at the nearest one around it; "" says nothing anywhere. */
export function problemAt(holder, where, text) {
  holder.querySelectorAll(".problem").forEach((old) => old.remove());
  holder.querySelectorAll("[aria-invalid]").forEach((old) => {
    old.removeAttribute("aria-invalid");
    old.removeAttribute("aria-describedby");
  });
  if (!text) return;
  const fields = new Map([...holder.querySelectorAll("[data-where]")].map((one) => [one.dataset.where, one]));
  let place = where;
  while (place && !fields.has(place)) place = place.replace(/(\.[^.[]*|\[\d+\])$|^[^.[]*$/, "");
  const found = place ? fields.get(place) : null;
  if (!found) return;
  for (let around = found; around; around = around.parentElement?.closest("details")) if (around.matches("details")) around.open = true;
  const problem = make("p", "problem", text);
  problem.id = newId();
  found.append(problem);
  const input = found.matches(".field") ? found.querySelector("input, select") : null;
  input?.setAttribute("aria-invalid", "true");
  input?.setAttribute("aria-describedby", problem.id);
}
