// One case: what was asked and answered, beside what was expected and accepted.

const article = document.getElementById("case");

async function openCase(row) {
  article.replaceChildren(element("p", {}, "…"));
  const found = await detail(row.place);
  const offered = await offeredTools(found);
  if (location.hash !== `#/case/${row.place}`) return;
  const answer = found.answers?.[found.shown ?? 0];
  article.replaceChildren(
    head(row, answer),
    ...section("Why there is no verdict", found.error ? [element("pre", { tabindex: "0" }, found.error)] : []),
    ...section("Reasons", reasons(answer), { class: "wrong-reasons" }),
    ...section("Expected and called", answer ? turns(answer, found) : []),
    ...section("What changed since the baseline", lines([...(found.since ?? []), ...(found.causes ?? [])])),
    ...section("Notes", lines(answer?.notes ?? [])),
    ...(found.lost ? [element("p", { class: "quiet" }, "What was asked and answered is not kept of this run.")] : []),
    ...(answer ? section("Asked and answered", conversation(answer, found)) : []),
    ...section("Inside the app", inside(answer)),
    ...section(`All ${found.answers?.length} answers`, samples(found)),
    ...section(offered.length > 1 ? `Tools offered (${offered.length})` : "Tools offered", offered),
    ...section("Settings", found.settings?.length ? [pairs(found.settings)] : []),
  );
  article.querySelector("h1").focus({ preventScroll: true });
}

function head(row, answer) {
  const other = rows.filter((each) => each.case === row.case && each.file === row.file && each !== row);
  return element("header", { class: "case-head" },
    element("h1", { tabindex: "-1" }, row.case),
    element("p", { class: "chips" },
      element("b", { class: `chip chip-${colour(row)}` }, word(row)),
      element("span", { class: "chip" }, row.model || "no model"),
      ...[row.category, ...row.tags.map((tag) => `#${tag}`), ...figures(row)].filter(Boolean)
        .map((text) => element("span", { class: "chip" }, text))),
    element("p", { class: "where" }, ...where(row)),
    ...(row.strip ? [strip(row)] : []),
    buttons(row, answer),
    neighbours(row),
    ...(other.length ? [element("p", { class: "quiet" }, "Under other models: ", ...other.flatMap((each) =>
      [element("a", { href: `#/case/${each.place}` }, each.model), ` ${word(each)} `]))] : []));
}

function figures(row) {
  return [
    row.rate && row.rate[1] > 1 ? `${row.rate[0]} of ${row.rate[1]} answers right` : "",
    row.before ? `${row.before[0]} of ${row.before[1]} right before` : "",
    time(row.seconds),
    row.tokens === null ? "" : plural(row.tokens, "token"),
    row.cost === null ? "" : `$${row.cost.toPrecision(3)}`,
  ];
}

// The place of the case: to be copied for an editor, and in the repository where that is known.

function where(row) {
  const place = `${row.file}:${row.line}`;
  const made = [element("code", {}, place), " ", copier("copy path", place)];
  if (data.source) {
    const [before, line, host] = data.source;
    const href = before + row.file.split("/").map(encodeURIComponent).join("/") + line + row.line;
    made.push(" ", element("a", { href, target: "_blank", rel: "noreferrer" }, `on ${host}`));
  }
  return made;
}

function neighbours(row) {
  const place = shown.indexOf(row);
  const step = (name, to) => (to ? element("a", { href: `#/case/${to.place}` }, name) : element("span", {}, name));
  return element("p", { class: "neighbours" },
    element("a", { href: "#/cases" }, "all cases"),
    ...(place < 0 ? [] : [step("← previous", shown[place - 1]), step("next →", shown[place + 1]),
      element("span", {}, `${(place + 1).toLocaleString("en")} of ${shown.length.toLocaleString("en")}`)]));
}

function strip(row) {
  const names = { r: "right", w: "wrong", e: "error", s: "skipped", ".": "not run" };
  const letters = [...row.strip].map((letter, place) =>
    element("span", { class: letter === "." ? "o" : letter, title: `${data.earlier[place]}: ${names[letter]}` },
      { r: "✓", w: "✗", e: "!", s: "–", ".": "·" }[letter]));
  const said = [...row.strip].map((letter) => names[letter]).join(", ");
  return element("p", {}, "Earlier runs ",
    element("span", { class: "strip", role: "img", "aria-label": `oldest first: ${said}` }, ...letters));
}

function lines(texts) {
  return texts.length ? [element("ul", {}, ...texts.map((text) => element("li", {}, ...markedLine(text))))] : [];
}

function reasons(answer) {
  const found = answer?.reasons ?? [];
  return found.length ? [element("ul", {}, ...found.map(([kind, path, text]) =>
    element("li", {}, element("b", {}, kind), " ", path ? element("code", {}, path) : "", text ? ` ${text}` : "")))] : [];
}

function pairs(named) {
  return element("dl", {}, ...named.flatMap(([name, value]) =>
    [element("dt", {}, name), element("dd", {}, element("code", {}, value))]));
}

// Calls side by side: a table for each turn, a row for each argument.

function turns(answer, found) {
  return (answer.turns ?? []).flatMap((turn, number) => [
    ...(answer.turns.length > 1 ? [element("h3", {}, `Turn ${number + 1}`)] : []),
    ...expectedText(turn),
    ...(turn.rows ? [calls(turn, found)] : []),
  ]);
}

function expectedText(turn) {
  const said = [turn.said ? `expected: ${turn.said}` : "", turn.rows ? "" : "called: nothing"].filter(Boolean).join(", ");
  return [
    ...(said ? [element("p", {}, said)] : []),
    ...(turn.text ? [element("p", {}, "expected text: ", element("code", {}, turn.text))] : []),
  ];
}

function calls(turn, found) {
  const columns = [
    ...(turn.known && turn.said !== "no call" ? ["expected"] : []),
    "called",
    ...(found.accepted ? [`accepted${found.accepted[1] ? "" : ", though wrong"}${found.accepted[0] ? ` ${found.accepted[0]}` : ""}`] : []),
  ];
  const has = { expected: columns[0] === "expected", accepted: Boolean(found.accepted) };
  return element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "table: calls" },
    element("table", { class: "calls" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, element("span", { class: "hidden" }, "argument")),
        ...columns.map((name) => element("th", { scope: "col" }, name)))),
      ...turn.rows.map((call) => callRows(call, has, columns))));
}

function callRows([wanted, called, accepted, wrong, given, note], has, columns) {
  const cells = (texts, isCode) => [
    ...(has.expected ? [texts[0]] : []), texts[1], ...(has.accepted ? [texts[2]] : []),
  ].map((content, place) => element("td", { "data-column": columns[place], class: content.class },
    ...(isCode && content.join("") ? [element("code", {}, ...content)] : content.filter(Boolean))));
  const mark = element("span", { class: wrong ? "wrong" : "right" }, called || wanted ? (wrong ? "✗" : "✓") : "");
  const missing = (name, other) => [name || (other ? "(no call)" : "")];
  const named = [[wanted + (note ? ` (${note})` : "")], missing(called, wanted || accepted), missing(accepted, called || wanted)];
  return element("tbody", { class: wrong ? "call wrong-call" : "call" },
    element("tr", { class: wanted && called && wanted !== called && wrong ? "tool wrong-tool" : "tool" },
      element("th", { scope: "row" }, mark, element("span", { class: "hidden" }, wrong ? " wrong" : " right"), " call"),
      ...cells(named, false)),
    ...given.map(([name, expected, value, was, spot]) => element("tr", { class: spot ? "wrong-argument" : "" },
      element("th", { scope: "row" }, name, ...(typeof spot === "string" ? [element("small", {}, spot)] : [])),
      ...cells(values(expected, value, was, spot), true))));
}

function values(expected, value, was, spot) {
  const before = [was === 0 ? value : was];
  if (was !== 0 && was && value) before.class = was === expected ? "wanted" : "other-value";
  if (!spot) return [[expected], [value], before];
  const wanted = apart(expected, value, "b");
  const given = apart(value, expected, "b");
  wanted.class = "wanted";
  given.class = "given";
  return [wanted, given, before];
}

// The conversation, turn by turn.

function conversation(answer, found) {
  let index = 0;
  const wrong = new Set(answer.wrong ?? []);
  return (answer.steps ?? []).flatMap((step, number) => {
    const made = number === 0 ? asked(step, found) : messages(step);
    made.push(...answered(step, (place) => wrong.has(index + place)));
    index += step.calls?.length ?? 0;
    return made;
  });
}

// The first messages, with what changed in them since an answer was accepted.

function asked(step, found) {
  const isSystem = ([role]) => role === "system" || role === "developer";
  const parts = [[found.system, "system", isSystem], [found.prompt, "prompt", (each) => !isSystem(each)]];
  return parts.flatMap(([pieces, role, isPart]) => {
    const own = messages({ messages: (step.messages ?? []).filter(isPart) });
    if (!pieces?.length) return own;
    const whole = message(`${role}, and what changed since the accepted run`, marked(pieces));
    return own.length > 1 ? [whole, ...own] : [whole];
  });
}

function messages(step) {
  return (step.messages ?? []).map(([role, text]) => message(role, [text]));
}

function message(role, content, kind = "") {
  const whole = element("pre", {}, ...content);
  if (whole.textContent.length > 800 || whole.textContent.split("\n").length > 15) whole.tabIndex = 0;
  return element("div", { class: `message ${kind}` }, element("p", { class: "role" }, role), whole);
}

function answered(step, isWrong = () => false) {
  const made = (step.calls ?? []).map((call, place) => {
    const result = step.results?.[place];
    return element("div", { class: `message ${isWrong(place) ? "wrong-message" : "answer"}` },
      element("p", { class: "role" }, isWrong(place) ? "call, wrong" : "call"), element("pre", {}, call),
      ...(result ? [element("p", { class: "role" }, result[0] || "result"), element("pre", { tabindex: "0" }, result[1])] : []));
  });
  if (step.text) made.push(message("answer", [step.text], "answer"));
  if (step.remark) made.push(message("remark", [step.remark], "answer"));
  return made;
}

function inside(answer) {
  return (answer?.inside ?? []).map((step, number) => {
    const brief = step.calls?.join("; ") || step.text || step.remark || "";
    return element("details", {},
      element("summary", {}, `${number + 1}. ${step.model ?? "request"} `, element("span", { class: "quiet" }, short(brief))),
      ...messages(step), ...answered(step));
  });
}

function samples(found) {
  const all = found.answers ?? [];
  return all.length < 2 ? [] : all.map((answer, number) => {
    const said = (answer.steps ?? []).flatMap((step) => step.calls ?? []).join("; ") || answer.steps?.at(-1)?.text || "no call";
    const title = [element("span", { class: answer.right ? "right" : "wrong" }, answer.right ? "✓ right" : "✗ wrong"),
      ` ${number + 1}. `, element("code", {}, short(said))];
    if (number === (found.shown ?? 0)) return element("p", { class: "sample" }, ...title, " (the one above)");
    return element("details", {}, element("summary", {}, ...title), ...reasons(answer), ...turns(answer, found),
      ...conversation(answer, found), ...inside(answer));
  });
}

function short(text) {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}

// The tools, each with its description and parameters, and with what changed in them.

async function offeredTools(found) {
  if (!found.offered) return found.tools?.length ? [element("p", {}, found.tools.join(", "))] : [];
  const { definitions, sets } = await unpack(data.tools);
  return (sets[found.offered] ?? []).map((place) => {
    const [name, text] = definitions[place];
    const pieces = found.changed?.[name];
    const title = element("summary", {}, element("code", {}, name), " ",
      ...(pieces ? [element("b", { class: "chip chip-other" }, "changed")] : []),
      element("span", { class: "quiet" }, ` ${short(text.startsWith("{") ? "" : text.split("\n")[0])}`));
    return element("details", { class: "definition", open: pieces ? "open" : undefined }, title,
      element("pre", { tabindex: "0" }, ...(pieces ? marked(pieces) : [text])));
  });
}

// Commands: each names the case and its model, and those that accept also the run.

function buttons(row, answer) {
  const node = quoted(`${row.file}::${row.case}`);
  const model = data.named.includes(row.model) ? ` --fc-model=${quoted(row.model)}` : "";
  const own = `${row.file}::${row.case}`;
  const result = quoted({ "": own, 1: `${own}[${row.model}]` }[row.node] ?? row.node);
  const run = quoted(`${data.run}.json`);
  const commands = { "run it again": `pytest ${node}${model} --fc-live`, "show its prompt": `fcall prompt ${node}${model}` };
  const right = answer ? answer.right : row.rate && share(row) === 1;
  if (right) commands["accept it"] = `fcall accept ${run} ${result}`;
  if (row.rate && !right) {
    const why = answer?.reasons?.[0]?.slice(0, 2).filter(Boolean).join(" at ") || row.reasons[0] || "known";
    commands["accept it as known failure"] = `fcall accept ${run} --failing ${result} --because ${quoted(why)}`;
  }
  return element("div", { class: "buttons" },
    ...Object.entries(commands).map(([name, command]) => copier(`copy: ${name}`, command)));
}
