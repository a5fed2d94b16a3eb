// Python in a thread of its own: it is loaded once, and judges whatever it is sent.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const HOME = "/lib/playground";

async function load() {
  const [python, archive] = await Promise.all([
    loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href }),
    fetch(new URL("playground.zip", import.meta.url)).then((answer) => {
      if (!answer.ok) {
        throw new Error(`playground.zip: ${answer.status}`);
      }
      return answer.arrayBuffer();
    }),
  ]);
  python.unpackArchive(archive, "zip", { extractDir: HOME });
  python.runPython(`import sys; sys.path.insert(0, "${HOME}"); import judge`);
  return python.pyimport("judge");
}

const loaded = load();

onmessage = async ({ data }) => {
  try {
    const judge = await loaded;
    postMessage({ results: JSON.parse(judge.judge_text(data.cases, data.reply, data.form)) });
  } catch (error) {
    postMessage({ trouble: String(error) });
  }
};
