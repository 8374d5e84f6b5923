/* The connection to a table. It is made anew when it is lost, later each time. */

import { ownId } from "./settings.js";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;
const NO_TABLE = 4404; // how the server closes where there is no such table; with --resume it may be back later

const addressOf = (key) =>
  `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/table/${encodeURIComponent(key)}?browser=${ownId()}`;

/* Over a slow network the first view comes while other modules are still loading: index.html loads this one first, and the
   first connection takes this socket over, with what came. */
const early = { socket: null, came: [] };
const table = location.pathname.match(/^\/table\/([\w-]+)$/);
if (table) {
  early.socket = new WebSocket(addressOf(table[1]));
  early.socket.onmessage = ({ data }) => early.came.push(data);
}

function takeEarly(url) {
  const { socket, came } = early;
  early.socket = null;
  if (!socket) return null;
  socket.onmessage = null;
  if (socket.url === url && socket.readyState <= WebSocket.OPEN) return { socket, came };
  socket.close();
  return null;
}

export class Connection {
  /* handlers: event({view | people | story | review | unsaved | closing}), lost(whether there is no such table), found(). */
  constructor(key, handlers) {
    this.handlers = handlers;
    this.pause = FIRST_PAUSE;
    this.asked = new Map();
    this.number = 0;
    this.over = false;
    this.url = addressOf(key);
    this.leave = () => this.socket.close(); // browsers keep pages that were left, and their sockets; it comes back with the page
    addEventListener("pagehide", this.leave);
    this.open();
  }

  open() {
    const taken = takeEarly(this.url);
    const socket = taken?.socket ?? new WebSocket(this.url);
    this.socket = socket;
    socket.addEventListener("open", () => this.handlers.found());
    socket.addEventListener("message", ({ data }) => this.receive(JSON.parse(data)));
    socket.addEventListener("close", ({ code }) => {
      for (const { reject } of this.asked.values()) reject(new Error("The connection was lost before the answer came."));
      this.asked.clear();
      if (this.over) return;
      this.handlers.lost(code === NO_TABLE);
      this.timer = setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(LONGEST_PAUSE, 2 * this.pause);
    });
    if (!taken) return;
    queueMicrotask(() => { // whoever made this connection knows it by then
      if (socket.readyState === WebSocket.OPEN) this.handlers.found();
      for (const data of taken.came) this.receive(JSON.parse(data));
    });
  }

  receive(message) {
    if (message.view) this.pause = FIRST_PAUSE; // not when opened: a table that there isn't opens, too, and closes
    if (!("reply" in message)) {
      this.handlers.event(message);
      return;
    }
    if (message.reply === null) {
      // not read at all, so that nobody knows which one it was
      for (const { reject } of this.asked.values()) reject(new Error(message.error));
      this.asked.clear();
      return;
    }
    const waiting = this.asked.get(message.reply);
    this.asked.delete(message.reply);
    if (!waiting) return;
    if ("error" in message) waiting.reject(Object.assign(new Error(message.error), { where: message.where }));
    else waiting.resolve(message);
  }

  /* A promise of the reply; it fails with the server's words. */
  ask(name, content = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error("There is no connection at present."));
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, do: name, ...content }));
    });
  }

  close() {
    this.over = true;
    removeEventListener("pagehide", this.leave);
    clearTimeout(this.timer);
    this.socket.close();
  }
}
