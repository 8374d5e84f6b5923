/* The faces of the opponents, drawn here: one for each level. */

import { draw } from "./dom.js";

/* By level: the colours of the ground, the skin and the hair; the hair behind the head, and what lies on the head, as [colour, path]. */
const FACES = [
  ["#f6d98b", "#f3c9a5", "#8a5a2b", "M6 27V15a10 10 0 0 1 20 0v12z", [["hair", "M7.500 17a8.500 8.500 0 0 1 17 0c-2-4-5-5.500-8.500-5.500S9.500 13 7.500 17z"]]],
  ["#bcd9ee", "#e8b58c", "#3f6fa8", "", [["hair", "M7 14a9 8.500 0 0 1 18 0l4.500 1.500v1.500H7z"]]],
  ["#e7c6dd", "#a86d45", "#33211b", "M5.500 12a4.500 4.500 0 0 1 5-6.500a6 6 0 0 1 11 0a4.500 4.500 0 0 1 5 6.500a4.500 4.500 0 0 1-1 8h-19a4.500 4.500 0 0 1-1-8z", [["hair", "M8.500 14c4-1 5-3.500 7.500-3.500s3.500 2.500 7.500 3.500l-1-4a8 8 0 0 0-13 0z"]]],
  ["#c9e3c4", "#f6d3b3", "#c79a3c", "", [["hair", "M7.500 16c0-6 3.500-10 9-9.500c5 .500 8 4 8 9.500c-2-3-3-4-3.500-5.500c-3 2.500-8.500 1.500-13.500 5.500z"]]],
  ["#d8cff0", "#f0c6a8", "#8d8f98", "M12 5.500a4 4 0 0 1 8 0a4 4 0 0 1-8 0z", [["hair", "M7.500 16.500a8.500 8.500 0 0 1 17 0c-1.500-4.500-4.500-6.500-8.500-6.500s-7 2-8.500 6.500z"], ["line", "M9 18a3 3 0 0 1 6 0a3 3 0 0 1-6 0zM17 18a3 3 0 0 1 6 0a3 3 0 0 1-6 0zM15 17.500h2"]]],
  ["#bfe5e0", "#f8d9c2", "#c9532b", "", [["hair", "M7.500 16l-1-5l3 1l.500-5l3.500 3l2.500-5l2.500 5l3.500-3l.500 5l3-1l-1 5c-2-4-5-4.500-8.500-4.500s-6.500.500-8.500 4.500z"], ["hair", "M10.500 20.500h1v1h-1zM12.500 21.500h1v1h-1zM20.500 20.500h1v1h-1zM18.500 21.500h1v1h-1z"]]],
  ["#f5c3b5", "#7d4f33", "#1d1a22", "M6.500 31V15a9.500 9.500 0 0 1 19 0v16z", [["hair", "M7.500 18c0-6 3.500-9.500 8.500-9.500s8.500 3.500 8.500 9.500c-1-3-6-3.500-8.500-7c-2.500 3.500-7.500 4-8.500 7z"]]],
  ["#d4d9de", "#e9b994", "#4d3a2c", "", [["hair", "M7.500 18c1 2.500 2.500 3.500 4 3c2-1 7-1 9 0c1.500.500 3-.500 4-3c0 6-3.500 10.500-8.500 10.500S7.500 24 7.500 18z"], ["line", "M10.500 14.500l3.500.500M21.500 14.500l-3.500.500"]]],
];
const MOUTHS = { 8: "M13.500 24h5" };

/* The face of a level, from 1. */
export function face(level) {
  const [ground, skin, hair, behind, above] = FACES[level - 1], line = { fill: "none", stroke: "#2b2522", "stroke-width": 1.2, "stroke-linecap": "round" };
  return draw("svg", { class: "face", viewBox: "0 0 32 32", "aria-hidden": "true" },
    draw("circle", { cx: 16, cy: 16, r: 16, fill: ground }),
    draw("path", { d: behind, fill: hair }),
    draw("circle", { cx: 16, cy: 18, r: 8.5, fill: skin }),
    ...above.map(([colour, d]) => draw("path", colour === "line" ? { d, ...line } : { d, fill: hair })),
    draw("path", { d: "M12.500 18v.500M19.500 18v.500", ...line, "stroke-width": 2.2 }),
    draw("path", { d: MOUTHS[level] ?? "M13 22.500q3 2.500 6 0", ...line, stroke: level === 8 ? "#ffffff" : "#2b2522" }),
  );
}
