/* A form for a description: made from what its keys may hold, filled from a description, and read back into one.

Each field is an element with `data-where`, its place in the description such as `field.b1.drops`, and a property
`read` that returns its value, undefined where it is left to the rules.
*/

import { button, make, newId } from "./dom.js";

const LEFT = "–"; // what a field shows that is left to the rules
const NONE = "none";
const FEW = 8; // names that need no fold

const words = (key) => key.replaceAll("_", " ");

export function fill(holder, form, description, changed) {
  holder.replaceChildren();
  holder.oninput = changed; // one that stood there before is replaced
  const simple = [], groups = [];
  const fields = Object.entries(form.keys).map(([key, one]) => {
    const made = field(key, one, description?.[key], key, changed);
    (made.matches("details, fieldset") ? groups : simple).push(made);
    return [key, made];
  });
  const general = grouped("general", make("div", "fields", ...simple));
  general.open = true;
  holder.replaceChildren(...(simple.length ? [general] : []), ...groups);
  holder.read = () => table(fields);
}

export const read = (holder) => holder.read();

function table(fields) {
  const given = fields.map(([key, made]) => [key, made.read()]).filter(([, value]) => value !== undefined);
  return given.length ? Object.fromEntries(given) : undefined;
}

/* A field by its kind. `where` is its place, `top`: not within another one. */
function field(key, form, value, where, changed) {
  const made = KINDS[form.kind](key, form, value, where, changed);
  made.dataset.where = where;
  if (form.place) made.dataset.place = JSON.stringify(form.place);
  return made;
}

const KINDS = {
  /* A switch of the game that is played. */
  fixed(key, { value }) {
    const made = make("div", "field");
    made.hidden = true;
    made.read = () => value;
    return made;
  },

  number(key, { low, high, none }, value) {
    const input = make("input");
    input.type = "number";
    input.inputMode = "numeric";
    input.min = low;
    input.max = high;
    input.step = 1;
    input.placeholder = LEFT;
    input.autocomplete = "off";
    input.value = value ?? "";
    const made = labelled(key, input), noneBox = make("input");
    if (none) {
      noneBox.type = "checkbox";
      noneBox.checked = value === null;
      const show = () => (input.disabled = noneBox.checked);
      noneBox.addEventListener("input", show);
      show();
      made.append(make("label", "none", noneBox, NONE));
    }
    // what is no whole number goes to the server as it is, which says what would be right
    const written = () => (input.value.trim() === "" && !input.validity.badInput ? undefined : asNumber(input.value));
    made.read = () => (noneBox.checked ? null : written());
    return made;
  },

  switch(key, form, value) {
    return choice(key, [["yes", true], ["no", false]], value);
  },

  choice(key, { names, none }, value) {
    const options = names.map((name) => [words(String(name)), name]);
    return choice(key, none ? [[NONE, null], ...options] : options, value);
  },

  names(key, { names }, value) {
    let given = Array.isArray(value);
    const boxes = names.map((name) => {
      const box = make("input");
      box.type = "checkbox";
      box.checked = given && value.includes(name);
      box.addEventListener("input", () => (given = true));
      return [name, box];
    });
    const labels = make("div", "boxes", ...boxes.map(([name, box]) => make("label", "", box, words(String(name)))));
    const made = names.length > FEW ? grouped(key, labels) : make("fieldset", "field wide", make("legend", "label", words(key)), labels);
    made.read = () => (given ? boxes.filter(([, box]) => box.checked).map(([name]) => name) : undefined);
    return made;
  },

  list(key, { of, longest, shortest = 0 }, value, where, changed) {
    let given = Array.isArray(value), items = [];
    const holder = make("div", "items"), state = make("p", "hint");
    const show = () => {
      holder.replaceChildren(...items.map(({ row }) => row));
      items.forEach((item, i) => (item.made.dataset.where = `${where}[${i}]`));
      state.textContent = given ? (items.length ? "" : "an empty list") : "left to the rules";
      add.disabled = items.length >= longest;
      clear.hidden = !given;
    };
    const insert = (one) => {
      const made = field(String(items.length + 1), of, one, `${where}[${items.length}]`, changed);
      const remove = button("×", () => {
        items = items.filter((other) => other !== item);
        show();
        changed();
      }, "remove");
      remove.setAttribute("aria-label", `Remove from ${words(key)}`);
      const item = { made, row: make("div", "item", made, remove) };
      items.push(item);
    };
    const add = button("Add", () => {
      given = true;
      do insert(undefined);
      while (items.length < shortest);
      show();
      items.at(-1).made.querySelector("input, select")?.focus();
      changed();
    }, "small");
    const clear = button("Leave to the rules", () => {
      given = false;
      items = [];
      show();
      changed();
    }, "small");
    if (given) value.forEach(insert);
    show();
    const made = grouped(key, holder, state, make("div", "actions", add, clear));
    // a blank entry is one, too: of a market, say
    made.read = () => (given ? items.map((item) => item.made.read() ?? null) : undefined);
    return made;
  },

  table(key, { keys }, value, where, changed) {
    const entries = value !== null && typeof value === "object" ? value : {};
    const fields = Object.entries(keys).map(([name, one]) => [name, field(name, one, entries[name], `${where}.${name}`, changed)]);
    const simple = fields.map(([, made]) => made).filter((made) => !made.matches("details"));
    const groups = fields.map(([, made]) => made).filter((made) => made.matches("details"));
    const inner = make("div", "group", make("div", "fields", ...simple), ...groups);
    if (!simple.length) inner.firstChild.remove();
    // numbers by name need no fold of their own within another group
    const flat = where.includes(".") && !groups.length && fields.every(([, made]) => made.matches(".field"));
    const made = flat ? make("fieldset", "group", make("legend", "", words(key)), make("div", "fields", ...simple)) : grouped(key, inner);
    made.read = () => table(fields);
    return made;
  },
};

function asNumber(text) {
  return /^-?\d+$/.test(text.trim()) ? Number(text.trim()) : text;
}

function grouped(key, ...children) {
  return make("details", "", make("summary", "", words(key)), ...children);
}

function labelled(key, input) {
  input.id = newId();
  const label = make("label", "", words(key));
  label.htmlFor = input.id;
  return make("div", "field", label, input);
}

/* One of some values, or left to the rules. */
function choice(key, options, value) {
  const select = make("select", "", new Option(LEFT, ""), ...options.map(([text], i) => new Option(text, i)));
  const at = value === undefined ? -1 : options.findIndex(([, one]) => one === value || (value !== null && String(one) === String(value)));
  select.value = at < 0 ? "" : at;
  const made = labelled(key, select);
  made.read = () => (select.value === "" ? undefined : options[select.value][1]);
  return made;
}

/* The fields that belong to places on the board, for `markPlaces`. */
export function groupsWithPlaces(holder) {
  return [...holder.querySelectorAll("[data-place]")].map((group) => ({
    key: group, words: `set up ${words(group.dataset.where)}`, places: [JSON.parse(group.dataset.place)],
  }));
}

/* Open a field with all around it, and go there. */
export function open(field) {
  for (let around = field; around; around = around.parentElement?.closest("details")) if (around.matches("details")) around.open = true;
  field.scrollIntoView({ block: "center" });
  (field.querySelector("input, select") ?? field).focus({ preventScroll: true });
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
  const field = fields.get(place);
  if (!field) return;
  for (let around = field; around; around = around.parentElement?.closest("details")) if (around.matches("details")) around.open = true;
  const problem = make("p", "problem", text);
  problem.id = newId();
  field.append(problem);
  const input = field.matches(".field") ? field.querySelector("input, select") : null;
  input?.setAttribute("aria-invalid", "true");
  input?.setAttribute("aria-describedby", problem.id);
}
