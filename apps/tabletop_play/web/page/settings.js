/* What this browser remembers of a person's choices; without a storage, as long as the page is open. */

const KEY = "tabletop";
let kept = {};

/* What other pages of this browser have kept since, too. */
function read() {
  try {
    kept = { ...kept, ...JSON.parse(localStorage.getItem(KEY)) };
  } catch {
    // no storage, or something else in it
  }
}

read();

export const setting = (name, otherwise) => kept[name] ?? otherwise;

const MOST_GAMES = 30;
const isKey = (key) => /^[\w-]{1,64}$/.test(key);

/* The games that this browser has played, the last one first: {key, title, who, score, turn, when}. */
export function ownGames() {
  read();
  const games = setting("games", []);
  return (Array.isArray(games) ? games : []).filter((one) => one && isKey(one.key));
}

export function noteGame(one) {
  remember("games", [one, ...ownGames().filter(({ key }) => key !== one.key)].slice(0, MOST_GAMES));
}

/* What the server says of whose turn it is there, by key. */
export function noteTurns(turns) {
  remember("games", ownGames().map((one) => ({ ...one, turn: turns[one.key] ?? one.turn })));
}

export function forgetGame(key) {
  remember("games", ownGames().filter((one) => one.key !== key));
}

/* What this browser calls itself at tables, so that it plays on after a reload. */
export function ownId() {
  read();
  if (!/^[\w-]{16,64}$/.test(setting("browser", ""))) {
    remember("browser", [...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join(""));
  }
  return setting("browser");
}

export function remember(name, value) {
  read();
  kept[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // not allowed here
  }
}
