// Asks the search of a built site, by the theme's own code: node search.js WORKER INDEX, questions on stdin.
const fs = require("fs");

const [worker, index] = process.argv.slice(2);
const answers = [];
let ask;
globalThis.self = globalThis;
globalThis.addEventListener = (_, handler) => { ask = (data) => handler({ data }); };
globalThis.postMessage = (message) => answers.push(message);
console.warn = (...said) => { throw new Error(said.join(" ")); };
(0, eval)(fs.readFileSync(worker, "utf8"));

(async () => {
  const { config, docs } = JSON.parse(fs.readFileSync(index, "utf8"));
  await ask({ type: 0, data: { config, docs, options: { suggest: false } } });
  for (const question of JSON.parse(fs.readFileSync(0, "utf8"))) {
    await ask({ type: 2, data: question });
  }
  const found = answers.filter(({ type }) => type === 3).map(({ data }) => data.items);
  console.log(JSON.stringify(found.map((items) => items.map((group) => group[0].location))));
})();
