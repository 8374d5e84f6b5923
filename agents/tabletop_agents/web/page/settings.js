/* What this browser remembers of a person's choices; without a storage, as long as the page is open. */

const KEY = "tabletop";
let kept = {};
try {
  kept = { ...JSON.parse(localStorage.getItem(KEY)) };
} catch {
  // no storage, or something else in it
}

export const setting = (name, otherwise) => kept[name] ?? otherwise;

const MOST_GAMES = 30;
const isKey = (key) => /^[\w-]{1,64}$/.test(key);

/* The games that this browser has played, the last one first: {key, title, who, turn, when}. */
export function ownGames() {
  const games = setting("games", []);
  return (Array.isArray(games) ? games : []).filter((one) => one && isKey(one.key));
}

export function noteGame(one) {
  remember("games", [one, ...ownGames().filter(({ key }) => key !== one.key)].slice(0, MOST_GAMES));
}

export function forgetGame(key) {
  remember("games", ownGames().filter((one) => one.key !== key));
}

export function remember(name, value) {
  kept[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // not allowed here
  }
}
