// Browsers start no workers from files. Opened without a server, the page lets its search run in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.documentElement.append(frame);
      const inside = frame.contentWindow;
      const ready = new Promise((resolve) => {
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inside.importScripts = (...urls) => Promise.all(urls.map((each) => load(frame, each)));
        load(frame, url).then(resolve);
      });
      this.postMessage = (data) => ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };
}

function load(frame, url) {
  return new Promise((resolve, reject) => {
    const script = frame.contentDocument.createElement("script");
    script.src = new URL(url, location.href);
    script.onload = resolve;
    script.onerror = reject;
    frame.contentDocument.body.append(script);
  });
}
