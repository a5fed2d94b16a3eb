// The page of the playground: two editors, and the worker that judges. Nothing of it leaves the browser.

"use strict";

const PLAYGROUND = document.getElementById("judge-reply");
const HERE = new URL(".", document.currentScript.src);
const SHARED = "#case=";
const LONGEST = 200000; // characters of what a link holds
const WORDS = { right: "right", wrong: "wrong", fault: "fault", open: "not judged" };

let worker = null;

function made(tag, properties = {}, ...inside) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
}

function editor(id, title, rows) {
  const box = made("textarea", { id, rows, spellcheck: false, autocapitalize: "off", wrap: "off" });
  return [box, made("div", { className: "editor" }, made("label", { htmlFor: id }, title), box)];
}

function choice(id, title, options) {
  const list = made("select", { id }, ...options.map(([value, text]) => made("option", { value }, text)));
  return [list, made("span", { className: "choice" }, made("label", { htmlFor: id }, title), list)];
}

const EXAMPLES = globalThis.playgroundExamples || { examples: [], decoders: [] };
const [example, exampleBox] = choice(
  "playground-example",
  "Example",
  EXAMPLES.examples.map(({ title }, number) => [number, title]),
);
const [form, formBox] = choice("playground-form", "The reply is", [
  ["", "as the case says"],
  ...EXAMPLES.decoders.map((name) => [name, `text in the format ${name}`]),
]);
const [cases, casesBox] = editor("playground-cases", "Case file (YAML)", 18);
const [reply, replyBox] = editor("playground-reply", "Reply (JSON, or text)", 18);
const judge = made("button", { type: "button", className: "judge" }, "Judge");
const share = made("button", { type: "button" }, "Copy link");
const state = made("p", { className: "state" });
const results = made("div", { className: "results" });
state.setAttribute("role", "status");

function show(number) {
  const shown = EXAMPLES.examples[number];
  if (shown) {
    fill(shown);
  }
}

function fill(content) {
  cases.value = content.cases;
  reply.value = content.reply;
  form.value = content.form;
  if (form.selectedIndex < 0) {
    form.selectedIndex = 0;
  }
  results.replaceChildren();
  state.textContent = "";
}

function lineOf(text) {
  const mark = /^\s*[✗✓]/.exec(text);
  const kind = !mark ? "" : mark[0].includes("✗") ? "bad" : "good";
  return kind ? made("span", { className: kind }, text) : text;
}

function resultOf({ id, status, title, text }) {
  const block = made("pre", { tabIndex: 0 });
  block.setAttribute("aria-label", `Result of ${id}`);
  block.setAttribute("role", "region");
  block.append(...text.split("\n").flatMap((line) => [lineOf(line), "\n"]));
  const known = status in WORDS ? status : "open";
  const head = made("p", {}, made("strong", { className: "verdict" }, WORDS[known]), " ", made("code", {}, id), " ", title);
  return made("div", { className: `result ${known}` }, head, ...(text ? [block] : []));
}

function end() {
  judge.textContent = "Judge";
  judge.disabled = false;
}

function stop(words) {
  worker?.terminate();
  worker = null;
  state.textContent = words;
  end();
}

function answered({ data }) {
  if (data.trouble) {
    stop(`Python failed: ${data.trouble.slice(-500)}`);
    return;
  }
  const counts = Object.entries(WORDS).flatMap(([status, word]) => {
    const count = data.results.filter((each) => each.status === status).length;
    return count ? [`${count} ${word}`] : [];
  });
  state.textContent = `${counts.join(", ")}.`;
  results.replaceChildren(...data.results.map(resultOf));
  end();
}

function run() {
  if (judge.textContent === "Stop") {
    stop("Stopped. The next time, Python is loaded again.");
    return;
  }
  if (location.protocol === "file:") {
    state.textContent = "A page that is opened from a file may not start Python. Open it from a server, such as python -m http.server.";
    return;
  }
  judge.textContent = "Stop";
  results.replaceChildren();
  state.textContent = worker ? "Judging …" : "Loading Python (14 MB, once), then judging …";
  if (!worker) {
    worker = new Worker(new URL("worker.js", HERE), { type: "module" });
    worker.onmessage = answered;
    worker.onerror = (event) => {
      event.preventDefault();
      stop("Python could not be loaded. Is the connection there, and does the browser know WebAssembly?");
    };
  }
  worker.postMessage({ cases: cases.value, reply: reply.value, form: form.value });
}

async function through(stream, bytes, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (let each = await reader.read(); !each.done; each = await reader.read()) {
    size += each.value.length;
    if (size > most) {
      throw new Error("too long");
    }
    parts.push(each.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function link() {
  const content = JSON.stringify([cases.value, reply.value, form.value]);
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(content), LONGEST);
  const text = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return SHARED + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function copy() {
  try {
    history.replaceState(null, "", await link());
  } catch {
    state.textContent = "This is too long for a link.";
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    state.textContent = "Copied. Whoever opens the link sees both texts.";
  } catch {
    state.textContent = "The link is in the address bar.";
  }
}

async function restore() {
  if (!location.hash.startsWith(SHARED)) {
    return;
  }
  try {
    const text = atob(location.hash.slice(SHARED.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const content = new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes, 4 * LONGEST));
    const shared = JSON.parse(content);
    if (!Array.isArray(shared) || !shared.every((each) => typeof each === "string")) {
      throw new Error("not of this page");
    }
    const [caseText = "", replyText = "", formName = ""] = shared;
    fill({ cases: caseText, reply: replyText, form: formName });
    state.textContent = "Both texts are those of the link.";
  } catch {
    state.textContent = "The link is damaged; this is an example instead.";
  }
}

PLAYGROUND.replaceChildren(
  made("div", { className: "row" }, exampleBox, formBox),
  made("div", { className: "editors" }, casesBox, replyBox),
  made("div", { className: "row" }, judge, share, made("span", { className: "keys" }, "Ctrl+Enter judges")),
  state,
  results,
);
example.addEventListener("change", () => show(example.value));
judge.addEventListener("click", run);
share.addEventListener("click", copy);
PLAYGROUND.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && judge.textContent === "Judge") {
    event.preventDefault();
    run();
  }
});
addEventListener("hashchange", restore);
show(0);
restore();
