// The same agent in JavaScript, as a server: it passes on which case it works on, and so can work on many at once.
import { createServer } from "node:http";

const MODEL = "gpt-5.2";
const PROMPT = "You help customers of a small shop. Look things up before you answer. Be brief.";
const ORDERS = { A17: ["anna", "shipped"], A18: ["anna", "open"], B4: ["bo", "open"] };

const status = (order) => ORDERS[order]?.[1] ?? "unknown order";
const TOOLS = {
  find_orders: ({ customer }) => Object.keys(ORDERS).filter((order) => ORDERS[order][0] === customer),
  order_status: ({ order }) => status(order),
  cancel_order: ({ order, reason = "customer" }) =>
    status(order) === "open" ? `cancelled for ${reason}` : `not cancelled: ${status(order)}`,
};

async function ask(messages, tools, traced) {
  for (let attempt = 0; ; attempt += 1) {
    const reply = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
        ...(traced && { "x-fcall-case": traced }),
      },
      body: JSON.stringify({ model: MODEL, messages, tools }),
    });
    if (reply.ok) return (await reply.json()).choices[0].message;
    if (reply.status !== 429 || attempt === 3) throw new Error(await reply.text());
    await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** attempt));
  }
}

async function answer({ messages, tools }, traced) {
  const all = [{ role: "system", content: PROMPT }, ...messages];
  for (let step = 0; step < 6; step += 1) {
    const { role, content, tool_calls: calls } = await ask(all, tools, traced);
    all.push({ role, content, ...(calls && { tool_calls: calls }) });
    if (!calls) break;
    for (const { id, function: called } of calls) {
      const result = TOOLS[called.name]?.(JSON.parse(called.arguments)) ?? "failed: no such tool";
      all.push({ role: "tool", tool_call_id: id, content: JSON.stringify(result) });
    }
  }
  return { messages: all };
}

createServer(async (request, response) => {
  if (request.method !== "POST") return response.end();
  let body = "";
  for await (const piece of request) body += piece;
  try {
    const told = await answer(JSON.parse(body), request.headers["x-fcall-case"]);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(told));
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error));
  }
}).listen(Number(process.env.PORT), "127.0.0.1");
