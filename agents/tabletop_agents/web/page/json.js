/* JSON whose whole numbers keep all digits: seeds and random streams have up to 64 bits, a JavaScript number has 53.

Larger ones are BigInts here. */

const LONG = /("(?:[^"\\]|\\.)*")|(?<![\d.eE+-])(-?\d{16,})(?=[\s,}\]]|$)/g;
const MARK = "\u0001whole:";
const MARKED = /"\\u0001whole:(-?\d+)"/g;

export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(LONG, (all, words, digits) => words ?? `"\\u0001whole:${digits}"`);
  return JSON.parse(marked, (_, value) => {
    if (typeof value !== "string" || !value.startsWith(MARK)) return value;
    return whole(value.slice(MARK.length));
  });
}

/* A whole number of any size, from its digits. */
export function whole(digits) {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

export function stringify(value, space) {
  const text = JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${MARK}${one}` : one), space);
  return text.replace(MARKED, "$1");
}
