/* A short sound, made here. Off until somebody switches it on. */

import { $ } from "./dom.js";
import { remember, setting } from "./settings.js";

const REST = 10_000; // milliseconds in which it isn't heard again
const NOTES = [523.25, 659.25]; // hertz, one after the other
const LENGTH = 0.35; // seconds of a note

let audio = null; // browsers let it be heard once somebody has pressed something
let last = 0; // when it was heard

const isOn = () => setting("sound", false) === true;

function wake() {
  if (!isOn()) return;
  audio ??= new AudioContext();
  audio.resume();
}

/* Let it be heard, unless it was a moment ago. */
export function ring() {
  if (!isOn() || !audio || Date.now() < last + REST) return;
  last = Date.now();
  NOTES.forEach((frequency, i) => {
    const note = new OscillatorNode(audio, { frequency }), loudness = new GainNode(audio, { gain: 0 });
    const from = audio.currentTime + i * 0.16;
    loudness.gain.setValueAtTime(0, from);
    loudness.gain.linearRampToValueAtTime(0.12, from + 0.02);
    loudness.gain.exponentialRampToValueAtTime(0.001, from + LENGTH);
    note.connect(loudness).connect(audio.destination);
    note.start(from);
    note.stop(from + LENGTH);
  });
}

function show() {
  $("sound").setAttribute("aria-pressed", isOn());
}

$("sound").addEventListener("click", () => {
  remember("sound", !isOn());
  show();
  wake();
  last = 0;
  ring(); // so that one knows it
});
for (const press of ["click", "keydown"]) addEventListener(press, wake);
show();
