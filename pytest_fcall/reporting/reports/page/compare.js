// Two models of this run, or an earlier run and this one, case by case.

const chooser = document.getElementById("pair");
const everything = document.getElementById("everything");
const pairTable = document.getElementById("pair-cases");
const pairMore = document.getElementById("pair-more");
const PAIR_PORTION = 100;

const twos = data.pairs.map((pair) => {
  const [before, now] = pair.run ? [pair.run, data.run] : pair.models.map((place) => data.models[place]);
  return { ...pair, before, now, name: pair.run ? `run ${before} → this run` : `${before} → ${now}` };
});
chooser.append(...twos.map((two, place) => element("option", { value: place }, two.name)));

function compareFragment(two) {
  const query = new URLSearchParams({ [two.run ? "run" : "before"]: two.before, ...(two.run ? {} : { now: two.now }) });
  if (everything.checked) query.set("all", "1");
  return `#/compare?${query}`;
}

async function openComparison(query) {
  everything.checked = query.get("all") === "1";
  const place = twos.findIndex((two) => (two.run ? query.get("run") === two.run
    : query.get("before") === two.before && query.get("now") === two.now));
  const two = twos[Math.max(place, 0)];
  if (!two) return;
  chooser.value = String(Math.max(place, 0));
  document.getElementById("pair-words").replaceChildren(...words(two));
  const fragment = location.hash;
  const all = two.run ? await runPairs(two) : modelPairs(two);
  if (location.hash !== fragment) return;
  const found = everything.checked ? all : all.filter((pair) => pair.kind);
  document.getElementById("pair-count").textContent = everything.checked
    ? `${plural(all.length, "case")}` : `${plural(found.length, "case")} of ${all.length.toLocaleString("en")} differ`;
  pairTable.replaceChildren(element("thead", {}, element("tr", {},
    ...["case", two.run ? `then: ${two.started.replace("T", " ").slice(0, 16)}` : two.before, two.run ? "now" : two.now]
      .map((name) => element("th", { scope: "col" }, name)))));
  pairTable.hidden = !found.length;
  await append(two, found, 0, fragment);
}

function words(two) {
  const title = two.title ? [element("p", { class: "quiet" }, `then: ${two.title}`)] : [];
  return [
    ...title,
    ...two.words.map(([model, conclusion, figures]) =>
      element("p", {}, model ? `${model}: ` : "", element("b", {}, conclusion), ` ${figures}`)),
    ...(two.words.length ? [] : [element("p", {}, "The two have no answered case in common.")]),
    ...(two.notes ?? []).map((note) => element("p", { class: "quiet" }, note)),
  ];
}

// Pairs of answers: how they differ, and where their calls are to be found.

function modelPairs(two) {
  const [before, now] = two.models;
  const olds = new Map(rows.filter((row) => row.number === before && row.rate).map((row) => [`${row.file}\n${row.case}`, row]));
  return rows.filter((row) => row.number === now && row.rate && olds.has(`${row.file}\n${row.case}`)).map((row) => {
    const old = olds.get(`${row.file}\n${row.case}`);
    return { row, old, kind: kind(isRight(old), isRight(row), old.answer === row.answer) };
  }).sort(byWeight);
}

async function runPairs(two) {
  const answers = await unpack(two.rows);
  return rows.filter((row) => answers[row.place]).map((row) => {
    const [right, calls, edited] = answers[row.place];
    return { row, right: right === 1, calls, kind: edited ? "edited" : kind(right === 1, isRight(row), calls === 0) };
  }).sort(byWeight);
}

function isRight(row) {
  return row.rate[0] === row.rate[1] || ["passed", "xpassed"].includes(row.status);
}

function kind(before, now, same) {
  if (before !== now) return now ? "won" : "lost";
  return same ? "" : "other calls";
}

function byWeight(a, b) {
  const order = ["lost", "won", "other calls", "edited", ""];
  return order.indexOf(a.kind) - order.indexOf(b.kind) || a.row.place - b.row.place;
}

// The rows come by portions, each when somebody gets to the end of those before.

async function append(two, found, start, fragment) {
  const portion = await Promise.all(found.slice(start, start + PAIR_PORTION).map((pair) => pairRow(two, pair)));
  if (location.hash !== fragment) return;
  pairTable.append(element("tbody", {}, ...portion));
  const left = found.length - start - portion.length;
  pairMore.replaceChildren();
  if (left <= 0) return;
  const button = element("button", { type: "button" }, `${left.toLocaleString("en")} more`);
  button.addEventListener("click", () => { button.disabled = true; append(two, found, start + PAIR_PORTION, fragment); });
  pairMore.append(button);
  new IntersectionObserver((entries, observer) => {
    if (entries.some((entry) => entry.isIntersecting)) { observer.disconnect(); button.click(); }
  }, { rootMargin: "400px" }).observe(button);
}

async function pairRow(two, pair) {
  const now = made(await detail(pair.row.place));
  const before = !pair.old ? (pair.calls === 0 ? now : said(pair.calls)) : made(await detail(pair.old.place));
  const wasRight = pair.old ? isRight(pair.old) : pair.right;
  return element("tr", {},
    element("th", { scope: "row" },
      element("a", { href: `#/case/${pair.row.place}` }, pair.row.case), " ",
      ...(pair.kind ? [element("b", { class: `kind kind-${pair.kind.split(" ")[0]}` }, pair.kind)] : []),
      ...(two.run && data.models.length > 1 ? [element("small", {}, pair.row.model)] : []),
      element("small", {}, `${pair.row.file}:${pair.row.line}`)),
    side(two.run ? "then" : two.before, wasRight, before, now),
    side(two.run ? "now" : two.now, isRight(pair.row), now, before));
}

function side(name, right, text, other) {
  return element("td", { "data-column": name },
    element("span", { class: right ? "right" : "wrong" }, right ? "✓" : "✗",
      element("span", { class: "hidden" }, right ? "right: " : "wrong: ")), " ",
    element("code", {}, ...(text === other ? [text] : apart(text, other, "b"))));
}

function made(found) {
  const answer = found.answers?.[found.shown ?? 0];
  return said((answer?.steps ?? []).flatMap((step) => step.calls ?? []), answer?.steps?.at(-1)?.text);
}

function said(calls, text = "") {
  return calls.join("\n") || (text ? `no call: ${short(text)}` : "no call");
}

chooser.addEventListener("change", () => { location.hash = compareFragment(twos[chooser.value]); });
everything.addEventListener("change", () => { location.hash = compareFragment(twos[chooser.value]); });
