/* A position that is set up: what is given of it, and what follows. A path leads to a value: keys, and numbers in lists. */

const at = (value, path) => path.reduce((inner, key) => inner?.[key], value);

export const whereOf = (path) => path.reduce((where, key) => (Number.isInteger(key) ? `${where}[${key}]` : where ? `${where}.${key}` : key), "");

export class Position {
  /* form: of descriptions; given: the description; whole: it with what follows. */
  constructor(form, given, whole) {
    Object.assign(this, { form, given, whole });
  }

  node = (path) => path.reduce((node, key) => (Number.isInteger(key) ? node.of : node.keys[key]), this.form);
  isGiven = (path) => at(this.given, path) !== undefined;
  value = (path) => at(this.given, path) ?? (at(this.given, path) === null ? null : at(this.whole, path));

  /* Whether a value is all or nothing: what stands in it is not given one by one. */
  #isOne = (path) => this.node(path).follows || this.node(path).kind === "list";

  /* undefined leaves the value out. A count that is left out is its usual one. */
  set(path, value) {
    this.given = structuredClone(this.given);
    for (let i = 1; i < path.length; i++) {
      const outer = path.slice(0, i), node = this.node(outer);
      if (this.isGiven(outer)) continue;
      const there = this.#isOne(outer) ? structuredClone(this.value(outer)) : undefined;
      this.#put(outer, there ?? (node.kind === "list" ? [] : {}));
    }
    this.#put(path, value === this.node(path).usual ? undefined : value);
    for (let i = path.length - 1; i > 0; i--) {
      const outer = path.slice(0, i);
      if (this.#isOne(outer) || Object.keys(at(this.given, outer)).length) break;
      this.#put(outer, undefined);
    }
  }

  #put(path, value) {
    const inner = at(this.given, path.slice(0, -1)), key = path.at(-1);
    if (value === undefined && !Array.isArray(inner)) delete inner[key];
    else inner[key] = value ?? null; // a blank entry of a list is one, too: of a market, say
  }

  /* What is given although it may follow; not what lies at, around or in this path. */
  following(but) {
    const found = [];
    const look = (node, path) => {
      if (!this.isGiven(path)) return;
      const near = path.every((key, i) => i >= but.length || but[i] === key);
      if (path.length && node.follows) {
        if (!near) found.push(path);
      } else for (const [key, inner] of Object.entries(node.keys ?? {})) look(inner, [...path, key]);
    };
    look(this.form, []);
    return found;
  }

  /* The places on the board, with what is set up there: [{place, paths}]. */
  places() {
    const found = new Map();
    const add = (place, path) => {
      const name = JSON.stringify(place);
      if (!found.has(name)) found.set(name, { place, paths: [] });
      found.get(name).paths.push(path);
    };
    const look = (node, path) => {
      const inner = Object.entries(node.keys ?? {}), isAround = inner.length && inner.every(([, one]) => one.place);
      if (!isAround) for (const place of [...(node.place ? [node.place] : []), ...(node.also ?? [])]) add(place, path);
      (node.places ?? []).forEach((place, i) => this.value([...path, i]) !== undefined && add(place, [...path, i]));
      for (const [key, one] of inner) look(one, [...path, key]);
    };
    look(this.form, []);
    return [...found.values()];
  }
}
