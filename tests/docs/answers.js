// Asks the code of the page "My error": node answers.js DATA CODE…, a list of questions on each line of stdin.
const fs = require("fs");
const readline = require("readline");
const vm = require("vm");

const scripts = process.argv.slice(2).map((file) => fs.readFileSync(file, "utf8"));
const ask = vm.runInNewContext(`${scripts.join("")}\n(text) => findAnswers(text, PATCHKIT)`);
readline.createInterface({ input: process.stdin }).on("line", (questions) => {
  console.log(JSON.stringify(JSON.parse(questions).map(ask)));
});
