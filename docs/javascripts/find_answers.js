// Finds what an error speaks of: the rows, patterns and order of `patchkit explain`.
"use strict";

/**
 * Return the answers to an error, the likeliest first.
 *
 * @param {string} text - an error message, part of one, a traceback or a log.
 * @param {object} data - known errors and patterns; see docs_site/my_error_page.py.
 * @returns {object[]} answers, each with its `kind`: "known", "patch" or "quoted".
 */
function findAnswers(text, data) {
  const pasted = read(text, data.reading);
  if (!pasted) return [];
  const { answers, byName, isPart } = answered(pasted, data);
  const whole = squeezed(pasted.text, data).letters;
  const [error] = pasted.errors;
  const raising = patchesWithMessage(data.patches, error, whole, data);
  const known = byName && raising.length ? [] : answers;
  let patches = raising;
  if (!known.length && !patches.length) {
    const candidates = data.patches.filter((patch) => !error.type || comesThrough(error, patch));
    patches = candidates.filter(({ messages }) =>
      whole.length >= data.shortest && messages.some((message) => message.includes(whole)));
    if (!patches.length) {
      patches = candidates.filter(({ symptom }) => symptom && new RegExp(symptom, "i").test(pasted.text));
    }
  }
  const numberless = (letters) => letters.replace(/\d+/g, "0");
  const quoted = data.quoted.filter(({ letters }) =>
    numberless(whole).includes(numberless(letters)) ||
    (whole.length >= data.shortest && numberless(letters).includes(numberless(whole))));
  return [
    ...known.map((row) => ({ kind: "known", ...row, isPart })),
    ...patches.map((row) => ({ kind: "patch", ...row })),
    ...quoted.map((row) => ({ kind: "quoted", ...row })),
  ];
}

/** Return the patches whose bug puts a message on the screen; see patchkit/known/answering.py. */
function patchesWithMessage(patches, error, whole, data) {
  const messageOn = `${error.message} ${error.after}`;
  const begins = [messageOn, `${error.type}: ${messageOn}`].map((text) => squeezed(text, data).letters);
  const says = (patch, message) => {
    if (comesThrough(error, patch)) return whole.includes(message);
    if (error.message.startsWith(data.ofNone)) return false;
    return error.type ? begins.some((begin) => begin.startsWith(message)) : whole.includes(message);
  };
  return patches.filter((patch) => patch.messages.some((message) => says(patch, message)));
}

/** Tell whether the traceback names a library that a patch changes. */
function comesThrough({ frames }, { packages }) {
  return frames.some(({ library }) => packages.includes(library));
}

/** Return the answers to a text that was read; see patchkit/known/answering.py. */
function answered(pasted, data) {
  const found = knownOf(pasted, data);
  const error = found.error || pasted.errors[0];
  return { ...found, answers: found.answers.map((answer) => inItsWords(answer, error, pasted, data)) };
}

function knownOf(pasted, data) {
  const [error] = pasted.errors;
  const known = ofWhoeverAsks(answeredAsItIs(pasted, data), error, data);
  if (known.answers.length || error.frames.length) return known;
  if (new RegExp(data.names.patterns.keyword).test(error.message)) return known; // Python's own message
  const symptoms = described(pasted, data);
  if (symptoms.length) return { answers: symptoms.map((match) => answerOf(match, data)) };
  const file = raisedIn(error.message, data);
  if (file) {
    const frames = [frameOf(`File "site-packages/${file}", line 1, in _`, data.reading)];
    const raised = answeredAsItIs({ ...pasted, errors: [{ ...error, frames }] }, data);
    if (raised.answers.length || error.type) return raised;
  }
  return known;
}

/** Say what to do where a library asks, if the text does not show who does. */
function ofWhoeverAsks(found, error, { names }) {
  if (error.frames.length || !found.byName || new RegExp(names.patterns.own).test(error.message)) return found;
  const told = (answer) => answer.whose === names.script && !answer.id.includes("(");
  const hint = names.texts["asker not shown"];
  const hinted = (answer) => {
    const since = answer.cause.match(new RegExp(names.goneSince));
    const holes = since && { ...since.groups, name: since.groups.title.toLowerCase() };
    return { ...answer, do: `${answer.do} ${since ? filled(hint.or, holes) : hint.do}` };
  };
  const answers = found.answers.map((answer) => (told(answer) ? hinted(answer) : answer));
  return { ...found, answers };
}

// -- Frameworks: patchkit/known/frameworks.py -----------------------------------------------------

/** Return an answer that says how the error's framework spells its settings, and what it takes. */
function inItsWords(answer, error, pasted, { frameworks }) {
  const { byName, most } = frameworks;
  const end = pasted.text.slice(-frameworks.letters);
  const mentioned = Object.keys(byName).filter((name) => new RegExp(byName[name].words, "i").test(end));
  const outermost = error.frames.find((frame) => frame.package in byName);
  const known = byName[outermost ? outermost.package : mentioned.length === 1 && mentioned[0]];
  if (!known) return answer;
  const { title, where, settings, same, takes, newest } = known;
  const said = [answer.do, ...(answer.write || [])].join(" ");
  const named = [...new Set(said.match(new RegExp(frameworks.named, "g")) || [])];
  const own = named.filter((name) => settings[name] && !said.includes(settings[name].split(" ")[0]));
  const spelt = own.map((name) => `${settings[name]} for ${name}`).slice(0, most);
  const kept = named.filter((name) => same.split(" ").includes(name) && !settings[name]).slice(0, most);
  const more = [];
  if (spelt.length) more.push(`In ${where} of ${title}: ${spelt.join(", ")}.`);
  else if (kept.length && !said.includes(title)) more.push(`${title} has ${kept.join(", ")} by that name in ${where}.`);
  const upgrades = (answer.write || []).filter((line) => new RegExp(frameworks.upgrade).test(line)).join(" ");
  const bounds = Object.keys(takes)
    .filter((library) => new RegExp(`(?<![\\w-])${library}(?![\\w-])`).test(upgrades))
    .map((library) => `${library}${boundsOfLibrary(known, library).pop()[1]}`);
  if (bounds.length && !answer.do.includes("takes")) more.push(`${title} ${newest} takes ${bounds.join(", ")}.`);
  if (new RegExp(frameworks.upgraded).test(answer.do) && ![said, ...more].join(" ").includes(title))
    more.push(`Upgrade ${title}, too, which goes with certain releases of them.`);
  const write = (answer.write || []).map((line) => (line.includes(frameworks.vllm) ? known.vllm || line : line));
  return { ...answer, do: [answer.do, ...more].join(" "), write };
}

/** Return releases of a framework with the bound up to which they take a library. */
function boundsOfLibrary({ takes }, library) {
  return takes[library].split(", ").map((each) => each.split(" "));
}

/** Say which release of a framework takes a library that has dropped what it asks for. */
function boundFor(framework, library, gone, { frameworks }) {
  const known = frameworks.byName[framework];
  if (!known || !known.takes[library]) return ["", ""];
  const releases = boundsOfLibrary(known, library);
  const reaches = (bound) => isInside(gone, ["<", bound.replace(/^[<=]+/, "")]) ||
    (bound[1] === "=" && isInside(bound.replace(/^[<=]+/, ""), [">=", gone]));
  const first = gone && releases.find(([, bound]) => reaches(bound));
  if (first) return [` ${known.title} takes ${library}${first[1]} since ${first[0]} at the latest.`, ""];
  const [, highest] = releases.pop();
  return [` ${known.title} ${known.newest} takes ${library}${highest}.`, gone && highest];
}

/** Return the file that raises a message; see patchkit/known/raised.py. */
function raisedIn(message, data) {
  const { letters: length, read: most, files } = data.raised;
  const letters = squeezed(message, data).letters.slice(0, most);
  const known = (data.raised.fileOf ??= filesByDigest(data.raised.files, "", new Map()));
  for (let start = 0; start + length <= letters.length; start++) {
    const file = known.get(digest(letters.slice(start, start + length)));
    if (file) return file;
  }
  return "";
}

function filesByDigest(table, folder, found) {
  for (const [name, below] of Object.entries(table)) {
    if (typeof below !== "string") filesByDigest(below, folder + name, found);
    else for (const digest of below.match(/.{5}/g)) found.set(digest, `${folder}${name}.py`);
  }
  return found;
}

const BASE_85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

function digest(part) {
  let value = 0x811c9dc5;
  for (let place = 0; place < part.length; place++) value = Math.imul(value ^ part.charCodeAt(place), 0x01000193);
  let letters = "";
  for (let rest = value >>> 0; letters.length < 5; rest = Math.floor(rest / 85)) letters = BASE_85[rest % 85] + letters;
  return letters;
}

function answeredAsItIs(pasted, data) {
  const found = matches(pasted, data);
  let answers = found.map((match) => answerOf(match, data));
  for (const error of pasted.errors) {
    const named = namesOf(error, pasted, data);
    if (found.length && error === found[0].error) {
      const isKnown = (found[0].row.weight || 0) > data.weights.kindsOnly;
      const table = named.filter(({ inTable }) => inTable || !isKnown);
      if (!table.length) return { answers: [withRelease(answers[0], error, data), ...answers.slice(1)], error };
      // Rows of less weight fit messages of many kinds.
      const rows = answers.filter(({ weight }) => weight >= 0);
      return { answers: [...rows, ...table], byName: !rows.length, error };
    }
    if (named.length) return { answers: named, byName: true, error };
  }
  if (!found.length && !pasted.errors[0].frames.length) {
    const { message, type } = pasted.errors[0];
    const part = squeezed(message, data).letters;
    // What follows a class is how a message begins; some wordings have the class, too.
    const begins = [part, squeezed(`${type}: ${message}`, data).letters];
    const hasPart = (number) => {
      const { literals } = data.wordings[number];
      if (type) return begins.some((begin) => literals[0]?.startsWith(begin));
      return literals.some((literal) => literal.includes(part));
    };
    const endsWithName = /\w[`'"]\s*$/.test(message);
    if (part.length >= data.shortest && !endsWithName) {
      const rows = data.rows.filter(({ says, needs }) => !needs && says.some(hasPart));
      answers = rows.map((row) => answerOf({ row, values: {} }, data));
      return { answers, isPart: true };
    }
  }
  return { answers, error: found.length ? found[0].error : undefined };
}

// -- Rows: patchkit/known/choosing.py -------------------------------------------------------------

function matches(pasted, data) {
  for (const error of pasted.errors) {
    if (error.type.endsWith("Warning")) break; // A log may say more beside its warnings.
    const texts = [error.message];
    if (isLaunchers(error, data.reading)) texts.unshift(`${error.type}: ${error.message} ${error.after}`);
    const short = error.message.match(new RegExp(`^(?:${data.noAttribute})`));
    if (short) texts.push(`'${short[1]}' object has no attribute '${short[2]}'`);
    if (error.type) texts.push(`${error.type}: ${error.message}`);
    if (error.after) texts.push(`${error.message} ${error.after}`);
    const kinds = [];
    for (const text of texts) {
      const found = matchesOf(text, error, pasted, data);
      if (found.length && !isKind(found[0], data)) return found;
      kinds.push(...found);
    }
    if (kinds.length) return [kinds.reduce((best, one) => (one.score > best.score ? one : best))];
  }
  const [first] = pasted.errors;
  if (first.type && !first.type.endsWith("Warning")) return [];
  return matchesOf(pasted.text, first, pasted, data);
}

/** Return the rows for what a text describes without an error; see patchkit/known/symptoms.py. */
function described(pasted, data) {
  const [error] = pasted.errors;
  if (error.type && !error.type.endsWith("Warning")) return [];
  const words = plainWords(pasted.text, data);
  const title = plainWords(pasted.text.trimStart().match(new RegExp(data.symptoms.title))?.[0] || pasted.text, data);
  const isSaid = (choice, where = words) => choice.split("|").some((one) => where.includes(one));
  const [ofField, ofOthers] = data.symptoms.words;
  if (!isSaid(ofField) || isSaid(ofOthers)) return [];
  const found = [];
  const fits = (row) => row.words?.every((one) => isSaid(one)) && !(row.without && isSaid(row.without));
  for (const row of data.rows.filter(fits)) {
    const score = scoreOf(row, error, pasted, data, true);
    const inTitle = row.words.every((one) => isSaid(one, title)) ? data.weights.inTitle : 0;
    const ofWords = data.weights.words * row.words.length + inTitle;
    if (score !== null) found.push({ row, values: {}, score: score + ofWords, error });
  }
  return likely(found.sort((one, other) => other.score - one.score), data);
}

/** Return the beginning of a description as words are compared. */
function plainWords(text, { symptoms }) {
  const other = new RegExp(symptoms.other, "g");
  let spelt = text.slice(0, symptoms.letters).toLowerCase().replaceAll("!!!", " exclamation marks ");
  if (/[\u4e00-\u9fff]/.test(spelt)) {
    for (const [word, english] of symptoms.chinese) spelt = spelt.replaceAll(word, ` ${english} `);
  }
  let words = ` ${spelt.replace(other, " ").trim()} `;
  for (const [kept, others] of Object.entries(symptoms.alike)) {
    for (const one of others) words = words.replaceAll(one, kept);
  }
  return words;
}

/** Return the first of some rows, and those for which nearly as much speaks. */
function likely(found, { weights }) {
  const least = found.length && Math.max(weights.least, found[0].score - weights.alike);
  return found.filter(({ score }, number) => number === 0 || score >= least);
}

function isKind({ row }, { weights }) {
  return (row.weight || 0) <= weights.kindsOnly;
}

function matchesOf(text, error, pasted, data) {
  const letters = squeezed(text, data);
  const spoken = spokenIn(letters, data);
  const found = [];
  for (const row of data.rows) {
    let best = null;
    for (const number of row.says) {
      if (!spoken.has(number)) continue;
      const { length } = data.wordings[number].literals.join("");
      if (!best || length > best.length) best = { length, values: spoken.get(number) };
    }
    const score = best && scoreOf(row, error, pasted, data);
    if (best && score !== null) {
      found.push({ row, values: best.values, score: score + best.length / 1000, error });
    }
  }
  found.sort((one, other) => other.score - one.score);
  if (found.length && isKind(found[0], data)) return found.slice(0, 1); // Two would say two things.
  return likely(found, data);
}

/** Return what stands in the holes of the wordings that a text has, by their numbers. */
function spokenIn(letters, data) {
  const { key: length, wordings } = data;
  data.byKey ??= wordings.reduce((found, { literals }, number) => {
    const longest = literals.reduce((one, other) => (other.length > one.length ? other : one), "");
    const key = longest.length < length ? "" : longest.slice(0, length);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(number);
    return found;
  }, new Map());
  const keys = new Set([""]);
  for (let start = 0; start < letters.letters.length; start++) keys.add(letters.letters.slice(start, start + length));
  const spoken = new Map();
  for (const key of keys) {
    for (const number of data.byKey.get(key) || []) {
      const values = valuesOf(wordings[number], letters);
      if (values) spoken.set(number, values);
    }
  }
  return spoken;
}

function scoreOf(row, error, pasted, data, pointed = false) {
  const { weights } = data;
  const { frames = [], near = [], never = [], versions = {}, not_types: notTypes = [] } = row;
  const isReal = () => !error.type.endsWith("Warning") && !isLaunchers(error, data.reading);
  if ((row.weight || 0) <= weights.kindsOnly && !isReal()) return null;
  if (notTypes.includes(error.name) || never.some((no) => new RegExp(no).test(error.message))) return null;
  const onlyIn = (row.only_in || {})[error.name];
  if (onlyIn && !isRaisedIn(onlyIn, error, data)) return null;
  if (row.where && (row.where === "elsewhere") !== isElsewhere(error, data)) return null;
  pointed ||= row.where === "elsewhere" && !frames.length;
  let score = row.weight || 0;
  if (frames.length) {
    const isKind = score <= weights.kindsOnly;
    const lines = isKind ? error.frames.filter((frame) => !passesOn(frame, data)).slice(-1) : error.frames;
    const texts = lines.map((frame) => `${frame.place}:${frame.function}`);
    if (frames.some((part) => texts.some((text) => text.includes(part)))) {
      score += weights.frames;
      pointed = true;
    } else if (error.frames.some(({ library }) => library)) {
      score -= weights.notThere;
    }
  }
  if (near.length) {
    if (near.some((word) => new RegExp(word, "i").test(pasted.text))) {
      score += weights.near;
      pointed = true;
    } else {
      score -= weights.notNear;
    }
  }
  if (!pointed && (row.needs || (frames.length && error.frames.length))) return null;
  for (const [distribution, ranges] of Object.entries(versions)) {
    const named = pasted.versions[distribution];
    if (!named) continue;
    if (!ranges.every((range) => isInside(named, range))) return null;
    score += 1;
  }
  return score;
}

/** Tell whether code of others raised an error; see patchkit/known/pasted.py. */
function isElsewhere({ frames }, data) {
  if (frames.some(({ library }) => library && !data.reading.anyField.includes(library))) return false;
  const asking = frames.filter((frame) => !frame.library && !passesOn(frame, data)).pop();
  if (!asking || !asking.function) return false;
  return asking.function !== "<module>" || asking !== frames[frames.length - 1];
}

/** Tell whether such a file raises an error, or the library itself is known to raise it. */
function isRaisedIn(files, error, data) {
  const place = error.frames.length ? error.frames[error.frames.length - 1].place : "";
  if (files.some((part) => place.includes(part))) return true;
  const [library] = raisedIn(error.message, data).split("/");
  return Boolean(library) && place.startsWith(`${library}/`);
}

function isInside(version, [operator, bound]) {
  const [mine, theirs] = [version, bound].map((text) => text.match(/^[\d.]*\d/)[0].split(".").map(Number));
  const length = operator === "==" ? theirs.length : Math.max(mine.length, theirs.length);
  for (let place = 0; place < length; place++) {
    const difference = (mine[place] || 0) - (theirs[place] || 0);
    if (difference) return operator === ">=" ? difference > 0 : operator === "<" && difference < 0;
  }
  return operator !== "<";
}

function answerOf({ row, values, error }, data) {
  const known = { message: error ? error.message.slice(0, data.longestQuoted) : "", ...values };
  const caller = error && callerOf(error, row.asked, data);
  if (caller) Object.assign(known, { caller: data.titles[caller] || caller, asking: distributionOf(caller, data) });
  if (row.since) known.since = data.since[row.since[0]][values[row.since[1]]] || "";
  const said = (text) => filled(text, known);
  const { id, page, cause, do: what, write = [], whose = "", tell = "" } = row;
  const { links = [], patches = [], preflight = [] } = row;
  const sentences = { cause: said(cause), do: said(what), write: write.map(said) };
  return { id, page, weight: row.weight || 0, ...sentences, whose: said(whose), tell: said(tell), links, patches, preflight };
}

/** Put the values of holes into a sentence: `{name}`, or `{name|what else to say}`. */
function filled(text, known) {
  return text.replace(/\{([^{}]*)\}/g, (hole, content) => {
    const [, name, bar, otherwise] = content.match(/^([^|]*)(\|?)(.*)$/s);
    if (!/^\w+$/.test(name) || !(name in known || bar)) return hole;
    return known[name] || otherwise;
  });
}

// -- Wordings: patchkit/known/wordings.py ---------------------------------------------------------

function squeezed(text, { dropped }) {
  const one = new RegExp(dropped);
  const places = [];
  let letters = "";
  for (let place = 0; place < text.length; place++) {
    if (one.test(text[place])) continue;
    const small = text[place].toLowerCase();
    letters += small.length === 1 ? small : text[place];
    places.push(place);
  }
  return { text, letters, places };
}

function valuesOf(wording, { text, letters, places }) {
  if (!wording.literals.every((literal) => letters.includes(literal))) return null;
  wording.compiled ||= new RegExp(wording.pattern, "dg");
  const isLetter = (place) => place >= 0 && /\w/.test(text.slice(place, place + 1));
  const isWhole = ({ indices: [[start, end]] }) =>
    !(wording.isShort && isLetter(places[end - 1] + 1)) && !(wording.beginsWord && isLetter(places[start] - 1));
  const found = [...letters.matchAll(wording.compiled)].find(isWhole);
  if (!found) return null;
  const original = (start, end) => (end > start ? text.slice(places[start], places[end - 1] + 1) : "");
  const [, end] = found.indices[0];
  if (wording.isClosed && /^\.?\w/.test(text.slice(places[end - 1] + 1))) return null;
  const values = {};
  for (const [name, span] of Object.entries(found.indices.groups || {})) {
    if (!span) continue;
    let value = original(...span);
    if (name === wording.last) value = value.replace(/^['"` ]+|['"` ]+$/g, "").split(/[\s'"`]/, 1)[0];
    values[name] = value.replace(/^['"`, ]+|['"`,. ]+$/g, "").replace(/['"`](,? (?:and )?)['"`]/g, "$1");
  }
  return values;
}

// -- What was pasted: patchkit/known/reading.py, pasted.py ----------------------------------------

function read(pasted, data) {
  let text = pasted.slice(-data.longest).replace(/\r\n?/g, "\n");
  text = text.replace(new RegExp(data.controls, "g"), "");
  for (const [written, letter] of Object.entries(data.letters)) text = text.replaceAll(written, letter);
  if (text.includes("last):\\n")) text = text.replaceAll("\\n", "\n").replaceAll('\\"', '"');
  text = text.replace(new RegExp(data.eaten, "g"), "$1__$2__").replaceAll("\\'", "'");
  text = text.replace(new RegExp(data.debugger, "gm"), "").replace(/^```\w*$/gm, "");
  const begins = text.trim().includes("\n") ? [...text.matchAll(new RegExp(data.beginning, "gm"))] : [];
  for (const [, begin] of begins) {
    const same = begin.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&").replace(/\d+/g, "\\d+");
    text = text.replace(new RegExp(`^${same}`, "gm"), "");
  }
  if (!text.trim()) return null;
  if (!text.trim().includes("\n") && /Traceback|File "/.test(text)) {
    text = text.replace(new RegExp(data.errorInside, "g"), "\n");
  }
  const streams = streamsOf(text, data);
  const whole = streams.flat().filter(Boolean).join(" ").split(/\s+/).filter(Boolean).join(" ");
  let raised = streams.flatMap((lines) => errorsOf(lines, data));
  const isReal = (error) => !isLaunchers(error, data) && !error.type.endsWith("Warning");
  if (!new RegExp(data.killed).test(whole) && !raised.some(isReal)) {
    const [found] = streams.flat().map((line) => line.match(new RegExp(data.native))).filter(Boolean);
    if (found) raised.push(raisedAs("", found[1].slice(0, data.longestMessage), [], ""));
  }
  const isPythons = raised.some(({ frames }) => frames.length);
  if (!isPythons && data.foreign.some(([sign, flags]) => new RegExp(sign, flags).test(text))) return null;
  if (!raised.length) {
    const frames = streams.flat().map((line) => frameOf(line, data)).filter(Boolean);
    if (whole.includes(data.crashed)) frames.reverse();
    if (whole.includes(data.crashed) || whole.length <= data.longestMessage) {
      const found = whole.includes(data.crashed) ? null : whole.match(new RegExp(data.inASentence));
      const { type, message } = found ? found.groups : { type: "", message: whole.slice(0, data.longestMessage) };
      raised = [raisedAs(type, message, frames, "")];
    }
  }
  const errors = inOrder(raised, data);
  return {
    text: whole,
    errors: errors.length ? errors : [raisedAs("", "", [], "")],
    versions: versionsOf(text, data),
  };
}

function raisedAs(type, message, frames, after) {
  return { type, name: type.split(".").pop(), message, frames, after };
}

function streamsOf(text, data) {
  const [rank, prefix, box] = [data.rank, data.prefix, data.box].map((one) => new RegExp(one));
  const byRank = new Map();
  for (const line of text.split("\n")) {
    const found = line.match(rank);
    const key = found ? found[1] : "";
    if (!byRank.has(key)) byRank.set(key, []);
    byRank.get(key).push(line.replace(prefix, "").replace(box, "").trim());
  }
  const bare = byRank.get("") || [];
  byRank.delete("");
  return [...byRank.values(), bare];
}

function errorsOf(lines, data) {
  const isError = new RegExp(data.error);
  const stops = [isError, new RegExp(data.marker), new RegExp(data.rule)];
  const goesOn = (line) => line && !stops.some((one) => one.test(line)) && !frameOf(line, data);
  const paragraph = (from) => {
    let end = from;
    while (end < lines.length && end - from < data.mostLines && goesOn(lines[end])) end++;
    return [lines.slice(from, end), end];
  };
  const joined = (parts) => parts.join(" ").trim().replace(/\s+/g, " ").slice(0, data.longestMessage).trim();
  const [ignored, stopping] = [[], []];
  let frames = [];
  let isIgnored = false;
  const ended = lines.findLastIndex((line) => new RegExp(data.ended).test(line));
  for (let number = ended + 1; number < lines.length;) {
    const line = lines[number++];
    const frame = frameOf(line, data);
    const raised = line.match(isError);
    if (frame) frames.push(frame);
    if (raised) {
      const above = lines.slice(Math.max(0, number - 1 - data.assertedAbove), number - 1);
      let message;
      [message, number] = paragraph(number);
      if (!raised.groups.message && !message.length && /^\*{4}/.test(lines[number] || "")) {
        [message, number] = paragraph(number + 1); // NLTK frames its own.
      }
      const below = lines.slice(number, number + 2).find(Boolean) || ""; // where pytest names the line
      if (new RegExp(`\\.py:\\d+: ${raised.groups.type.split(".").pop()}$`).test(below)) {
        frames.push(...[frameOf(below, data)].filter(Boolean));
        number = lines.indexOf(below, number) + 1;
      }
      let after = [];
      if (raised.groups.type.endsWith("AssertionError")) {
        const asserted = above.map((one) => one.match(new RegExp(data.asserted))).filter(Boolean).map((one) => one[1]).slice(-1);
        if (!raised.groups.message && !message.length) message = asserted;
        else after = asserted.map((one) => `${raised.groups.type}: ${one}`);
      }
      for (let beyond = number; beyond < lines.length && !lines[beyond] && after.length < data.mostLines;) {
        let more;
        [more, beyond] = paragraph(beyond + 1);
        after.push(...more);
      }
      if (new RegExp(data.launcher).test(raised.groups.type)) after = lines.slice(number, number + data.mostLines);
      const { type, message: first } = raised.groups;
      (isIgnored ? ignored : stopping).push(raisedAs(type, joined([first || "", ...message]), frames, joined(after)));
      [frames, isIgnored] = [[], false];
    } else if (!frame && /^([\w.]+\s+)?Traceback \(most recent call last\)/.test(line)) {
      frames = [];
    } else if (!frame && new RegExp(data.ignored).test(line)) {
      isIgnored = true;
    }
  }
  return [...ignored, ...stopping];
}

function frameOf(line, data) {
  for (const pattern of data.frames) {
    const found = line.match(new RegExp(pattern));
    if (!found) continue;
    const file = found.groups.file.replaceAll("\\", "/");
    const place = placeOf(file, data);
    const [top, ...below] = place.split("/");
    const library = below.length && (data.libraries.includes(top) || top === data.remoteCode) ? top : "";
    const isInstalled = below.length && /(site|dist)-packages\//.test(file);
    const package_ = library || (isInstalled ? top : "");
    return { file, place, library, package: package_, function: found.groups.function || "" };
  }
  return null;
}

function placeOf(file, { libraries, folders, remoteCode, installed }) {
  const below = file.match(new RegExp(`^${installed}`));
  if (below) return below[1];
  const parts = file.split("/");
  const name = parts[parts.length - 1];
  if (parts.includes(remoteCode)) return parts.slice(parts.indexOf(remoteCode)).join("/");
  if (parts.some((part) => part.startsWith("unsloth_compiled"))) return `unsloth/${name}`;
  const places = [...parts.slice(0, -1).keys()].filter((at) => libraries.includes(parts[at]) &&
    (!folders.includes(parts[at]) || at <= 2 || ["src", parts[at]].includes(parts[at - 1])));
  const same = places.filter((at) => parts[at] === parts[places[0]]);
  return same.length ? parts.slice(same[same.length - 1]).join("/") : name;
}

function inOrder(raised, data) {
  const seen = new Map();
  for (const error of [...raised].reverse()) {
    const { type, message, frames, after } = error;
    const key = JSON.stringify([type, message, after, frames.map((one) => [one.file, one.function])]);
    if (!seen.has(key)) seen.set(key, error);
  }
  const latest = [...seen.values()];
  const real = latest.filter((error) => !isLaunchers(error, data) && !error.type.endsWith("Warning"));
  if (real.length) return real.filter((error) => error === real[0] || error.frames.length || error.message.endsWith("raised:"));
  const launchers = latest.filter((error) => isLaunchers(error, data));
  const tellsLeast = ({ message, after }) => !new RegExp(data.follower).test(message) && !new RegExp(data.killed).test(after);
  return launchers.length ? launchers.sort((one, other) => tellsLeast(one) - tellsLeast(other)) : latest;
}

function isLaunchers({ type, message }, data) {
  return new RegExp(data.launcher).test(type) || new RegExp(data.follower).test(message);
}

function versionsOf(text, data) {
  const found = {};
  for (const [, library, version] of text.matchAll(new RegExp(data.version, "gi"))) {
    found[library.toLowerCase().replaceAll("_", "-")] = version;
  }
  const python = text.match(new RegExp(data.python, "i"));
  if (python) found.python = python[1];
  return found;
}

/** Return the package whose line asks another, or undefined; see patchkit/known/pasted.py. */
function callerOf(error, library, data) {
  const callers = error.frames
    .filter((frame) => !passesOn(frame, data))
    .map((frame) => frame.package);
  while (library && callers.length && callers[callers.length - 1] === library) callers.pop();
  return callers.pop();
}

/** Tell whether a line only passes a call or an import on; notebooks name what it is defined in. */
function passesOn(frame, { names }) {
  return frame.file.startsWith("<frozen") || names.passingOn.includes(frame.function.split(".").pop());
}
