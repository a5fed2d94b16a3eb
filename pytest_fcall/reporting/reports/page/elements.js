"use strict";
// What all views use: elements whose text is text, copy buttons, and data that is unpacked when it is looked at.

const data = JSON.parse(document.getElementById("data").textContent);
const unpacked = new Map();

document.documentElement.classList.add("with-script");

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== "" && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function section(title, content, attributes = {}) {
  return content.length ? [element("section", attributes, element("h2", {}, title), ...content)] : [];
}

function unpack(text) {
  if (!unpacked.has(text)) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    unpacked.set(text, new Response(stream).json());
  }
  return unpacked.get(text);
}

async function detail(place) {
  return (await unpack(data.packed[Math.floor(place / data.portion)]))[place % data.portion];
}

function time(seconds) {
  if (seconds === null) return "";
  return seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

// Pieces of a text of which some are gone, some are new, and the others are in both.

function marked(pieces) {
  return pieces.map(([sign, text]) => {
    if (sign === " ") return text;
    return element(sign === "-" ? "del" : "ins", {}, text);
  });
}

// `[-gone-]{+new+}`, as lines about changed prompts have it.

function markedLine(text) {
  return text.split(/(\[-.*?-\]|\{\+.*?\+\})/s).map((part) => {
    if (part.startsWith("[-") && part.endsWith("-]")) return element("del", {}, part.slice(2, -2));
    return part.startsWith("{+") && part.endsWith("+}") ? element("ins", {}, part.slice(2, -2)) : part;
  });
}

// Two texts, with the words between their common beginning and end in an element of their own, where they are alike.

function apart(text, other, mark) {
  let head = 0;
  while (head < text.length && text[head] === other[head]) head += 1;
  let tail = 0;
  const most = Math.min(text.length, other.length) - head;
  while (tail < most && text.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  while (head > 0 && /\w/.test(text[head - 1])) head -= 1;
  while (tail > 0 && /\w/.test(text.at(-tail))) tail -= 1;
  const middle = text.slice(head, text.length - tail);
  if (head + tail < 4 || !middle) return [text];
  return [text.slice(0, head), element(mark, {}, middle), text.slice(text.length - tail)];
}

// Buttons that copy.

function quoted(text) {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function copier(name, text) {
  const made = element("button", { type: "button", title: text }, name);
  made.addEventListener("click", async () => {
    await copy(text);
    made.textContent = "copied";
    setTimeout(() => { made.textContent = name; }, 1500);
  });
  return made;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = element("textarea", {}, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
