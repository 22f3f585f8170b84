// Asks the code of the page "My error": node answers.js DATA CODE, questions on stdin.
const fs = require("fs");
const vm = require("vm");

const [data, code] = process.argv.slice(2).map((file) => fs.readFileSync(file, "utf8"));
const questions = JSON.parse(fs.readFileSync(0, "utf8"));
const ask = vm.runInNewContext(`${data}${code}\n(text) => findAnswers(text, PATCHKIT)`);
console.log(JSON.stringify(questions.map(ask)));
