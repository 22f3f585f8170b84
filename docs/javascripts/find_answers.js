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
      if (!table.length) return { answers, error };
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

// -- Names: patchkit/known/names.py ---------------------------------------------------------------

function namesOf(error, pasted, data) {
  const { patterns, places, attributes, history } = data.names;
  const all = (pattern) => [...error.message.matchAll(new RegExp(pattern, "g"))];
  const own = error.message.match(new RegExp(patterns.own));
  if (own) return [ofOwn(own, data.names)];
  const found = [];
  const add = (answers, inTable) => found.push(...answers.map((answer) => ({ ...answer, inTable: Boolean(inTable) })));
  const asked = [
    ...all(patterns.name).map(([, name, module]) => `${module}.${name}`),
    ...all(patterns.module).map(([, module]) => module),
    ...all(patterns.attribute).map(([, module, name]) => `${module}.${name}`),
  ];
  for (const place of asked) {
    const hasRows = places[place] || data.names.modules[place] || history.others.includes(place.split(".")[0]);
    add(ofName(place, error, pasted, data), hasRows);
  }
  for (const [, owner, keyword] of all(patterns.keyword)) {
    const called = classOf(owner || "");
    const said = ofKeyword(called, keyword, error, pasted, data);
    const asks = error.frames.length ? error.frames[error.frames.length - 1].library : "";
    const isOurs = !called && (!asks || data.names.libraries.includes(asks));
    add(!said.length && isOurs ? ofArguments(keyword, pasted.text, data) : said, rowOfKeyword(called, keyword, data));
  }
  for (const [, owner, name] of all(patterns.ofObject)) add(ofAttribute(owner, name, error, data), true);
  for (const [, member] of error.name === "AttributeError" ? all(patterns.member) : []) {
    const row = attributes.find(({ name, ofClass }) => ofClass && name === member);
    if (row) add([ofRow(row.answer, error, data, false)], true);
  }
  for (const [, flags] of all(patterns.flags)) {
    const written = [patterns.flag, patterns.key].map((one) => [...flags.matchAll(new RegExp(one, "g"))]);
    const given = written.find(({ length }) => length) || [];
    const unread = { ...error, frames: [] }; // Who parses them has not written them.
    const gone = given.map(([, flag]) => ofKeyword("", flag.replaceAll("-", "_"), unread, pasted, data));
    if (2 * gone.filter(({ length }) => length).length < given.length) continue; // The file is of another command.
    add(gone.flat(), true);
  }
  if (new RegExp(patterns.refusedValue).test(error.message)) {
    const begin = error.message.split(" available tasks ")[0].slice(0, 200);
    const rows = data.names.values.filter(({ pattern }) => new RegExp(pattern).test(begin));
    add(rows.map(({ answer }) => ofRow(answer, error, data)), false);
  }
  return [...new Map(found.map((answer) => [answer.id, answer])).values()];
}

function ofName(named, error, pasted, data) {
  const { patterns, places, modules, libraries, history } = data.names;
  const library = named.split(".")[0];
  if (!libraries.includes(library) && !history.others.includes(library)) return [];
  const itself = asksItself(named, error, data);
  if (itself) return [itself];
  let [place, [came, gone]] = [named, boundsOfPlace(named, data)];
  const ofPackage = place.match(new RegExp(`^(?:${patterns.ofPackage})$`));
  if (ofPackage && !came && !gone && !places[place]) {
    place = `${library}.${ofPackage[1]}`;
    [came, gone] = boundsOfPlace(place, data);
  }
  const version = pasted.versions[library];
  const row = places[place];
  const since = row && row.cause.match(new RegExp(data.names.goneSince));
  gone ||= since ? since.groups.gone : "";
  const caller = callerOf(error, library, data);
  const imported = caller || !modules[place] ? [] : namesBelow(place, pasted, data.names);
  if (imported.length) return imported.map((answer) => ofRow(answer, error, data));
  if (came && !isGone(version, came, gone)) return [notYet(place, came, library, version, error, data)];
  if (row) {
    const answer = ofRow(row, error, data);
    if (!came || version || !/gone since/.test(row.cause)) return [answer];
    const values = { title: history.titles[library], came };
    const cause = answer.cause.replace(/\.+$/, "") + part("came", values, data);
    return [{ ...answer, cause, do: answer.do + part("upgrade", values, data) }];
  }
  if (!caller && modules[place]) return [modules[place]];
  if (gone) return [hasLeft(place, gone, library, error, data)];
  return ofUnknownName(place, library, version, error, data);
}

/** Return a row of the table, or what to do about it where a library asks. */
function ofRow(row, error, data, sayWho = true) {
  const { library, cause } = row;
  const since = cause.match(new RegExp(data.names.goneSince));
  const caller = since && callerOf(error, library, data);
  if (!caller || (sayWho && !data.names.history.titles[library])) return row;
  const values = { caller: titleOf(caller, data), place: row.id, since: `${since.groups.title} ${since.groups.gone}` };
  const said = sayWho ? part("asks for what is old", values, data) : cause;
  return { ...ofCaller(caller, row.id, library, since.groups.gone, said, data), links: row.links };
}

function ofAttribute(owner, attribute, error, data) {
  const { attributes, configuration } = data.names;
  for (const { name, bases, like, library, answer } of attributes) {
    if (name !== attribute) continue;
    const asksWhatItWraps = error.frames.some((frame) => frame.library === library && frame.function === "__getattr__");
    const mine = asksWhatItWraps ? bases[0] : owner;
    if (!bases.includes(mine) && !like.some((one) => new RegExp(one).test(mine))) continue;
    return [ofRow(renamed(answer, `${mine}.${attribute}`), error, data, false)];
  }
  let [library, came, gone] = boundsOfKeyword(owner, attribute, data);
  if (!library && owner.endsWith("TrainingArguments")) {
    [library, came, gone] = boundsOfKeyword("TrainingArguments", attribute, data);
  }
  const what = `${owner}.${attribute}`;
  if (!new RegExp(configuration).test(owner) || (!came && !gone)) return [];
  if (gone) return [hasLeft(what, gone, library, error, data)];
  return [notYet(what, came, library, undefined, error, data)];
}

function ofKeyword(owner, keyword, error, pasted, data) {
  const [library, came, gone] = boundsOfKeyword(owner, keyword, data);
  const own = rowOfKeyword(owner, keyword, data);
  const isModel = new RegExp(data.names.model).test(owner);
  // It hands on what the script has in model_init_kwargs.
  const asking = isModel && callerOf(error, "transformers", data) === "trl" ? { ...error, frames: [] } : error;
  const alike = own || came || gone ? undefined : rowOfAlike(owner, keyword, data);
  const version = library ? pasted.versions[library] : undefined;
  const what = `${owner}(${keyword}=)`;
  if (came && (isOlder(version, came) || !(own || isGone(version, came, gone)))) {
    return [notYet(what, came, library, version, asking, data)];
  }
  if (alike && isClass(owner, data)) {
    if (!owner.endsWith("TrainingArguments")) return ofUnknownKeyword(owner, keyword, data);
    const its = alike.id.replace(/\(.*/, "");
    const answer = ofRow(alike, asking, data);
    const cause = answer.cause.replace(/\.+$/, "") + part("never", { owner }, data);
    return [{ ...answer, cause, do: answer.do + part("arguments", { its, owner }, data) }];
  }
  const row = own || alike;
  if (row) return [ofRow(owner ? renamed(row, what) : row, asking, data)];
  if (gone) return [hasLeft(what, gone, library, asking, data)];
  return ofUnknownKeyword(owner, keyword, data);
}

/** Return the row for a keyword of a class, or of one whose keywords it takes as well. */
function rowOfKeyword(owner, keyword, data) {
  const { keywords, model } = data.names;
  const owners = [owner, ...basesOf(owner, data)];
  if (new RegExp(model).test(owner)) owners.push("PreTrainedModel.from_pretrained");
  const row = owners.filter(Boolean).map((each) => keywords[`${each} ${keyword}`]).find(Boolean);
  return row && renamed(row, `${owner}(${keyword}=)`);
}

function basesOf(owner, { names }) {
  const taken = Object.values(names.history.libraries).flatMap(({ takenFrom }) => takenFrom[owner] || []);
  const bases = taken.map((base) => base.replace(/^[^.]*\.?/, ""));
  return owner.startsWith("Seq2Seq") ? [owner.replace("Seq2Seq", ""), ...bases] : bases;
}

/** Return the row for a keyword of classes like one that no table has: those of its last word. */
function rowOfAlike(owner, keyword, { names }) {
  const { keywords, lastWords, patterns } = names;
  if (!owner) return keywords[` ${keyword}`];
  const word = lastWord(owner);
  const rows = names.alike[keyword] || [];
  const isWord = lastWords.split(" ").includes(word);
  const any = !isWord && new RegExp(`^(?:${patterns.unmistakable})$`).test(keyword) ? rows[0] : undefined;
  const row = rows.find(([, words]) => words.includes(word)) || any;
  return row && keywords[row[0]];
}

function lastWord(owner) {
  const word = owner.split(".").pop().split(/(?<!^)(?=[A-Z])/).pop();
  return ["Arguments", "Args"].includes(word) ? "Config" : word;
}

/** Repeat what the legacy layer said of an old spelling, with where its row has it from. */
function ofOwn([, old, since, mark, advice], { places, modules, keywords }) {
  const [place, keyword] = old.split(/\((?=\w)/);
  const row = keyword ? keywords[`${classOf(place)} ${keyword.split("=")[0]}`] : places[place] || modules[place];
  const [what, versions] = advice.split(" Versions that have it: ");
  const word = /^[A-Za-z]+(?= )/.test(what) ? what[0].toUpperCase() : what[0];
  const done = mark === "." ? "refuses it" : "has done so for this run";
  return {
    id: old,
    cause: `\`${old}\` ${since}.`,
    do: `${word}${what.slice(1).replace(/\.+$/, "")}. The legacy layer ${done}.`,
    write: versions ? [versions] : [],
    whose: "the script",
    links: row ? row.links : [],
    inTable: true,
  };
}

// -- History: patchkit/known/history.py ----------------------------------------------------------

/** Return what the releases had of a name, as the table holds it: nothing where all or none had it. */
function boundsOf(table, owner, name) {
  const found = Object.entries(table[owner] || {}).find(([, names]) => names.split(" ").includes(name));
  return found ? found[0].split(" ").map((release) => (release === "-" ? "" : release)) : [];
}

function boundsOfPlace(place, data) {
  const { history } = data.names;
  const [library, ...rest] = place.split(".");
  for (const stand of standsFor(library, rest.join("."), data)) {
    const inside = `${library}.${stand}`.split(".");
    const name = inside.pop();
    const found = boundsOf(history.places, inside.join("."), name);
    const isFirst = stand !== rest.join(".") && rest.length === 1 && found[0] === history.firstPackages;
    if (found.length && !isFirst) return found;
  }
  return ["", ""];
}

/** Return the library of a keyword, the release that brought it, and the first without it. */
function boundsOfKeyword(owner, keyword, { names }) {
  const found = boundsOf(names.history.keywords, owner, keyword);
  if (found.length) return found;
  const known = Object.entries(names.history.libraries).find(([, { keywords }]) => hasWord(keywords[owner], keyword));
  return known ? [known[0], "", ""] : ["", "", ""];
}

function hasWord(words, word) {
  return ` ${words || ""} `.includes(` ${word} `);
}

/** Return a place in a library, and what comes and goes with it, which alone is written down. */
function standsFor(library, place, { names }) {
  const { libraries, fileOfModel, ofFamily } = names.history;
  if (!libraries[library]) return [place];
  const file = place.match(new RegExp(`^(?:${fileOfModel})`));
  if (file) return [place, file[1]];
  if (!new RegExp(`^(?:${ofFamily})`).test(place)) return [place];
  const family = (one) => one.split(".")[1].replaceAll("_", "");
  const packages = libraries[library].packages.split(" ").filter(Boolean);
  const found = packages.filter((one) => place.toLowerCase().startsWith(family(one)));
  const longest = found.reduce((one, other) => (family(other).length > family(one).length ? other : one), found[0]);
  return found.length ? [place, longest] : [place];
}

function told(name, place, library, data, values = {}) {
  const { texts, history } = data.names;
  const known = { place, library, title: history.titles[library] || "", ...values };
  const { cause, do: what, write = [], whose } = texts[name];
  const lines = write.map((line) => filled(line, known)).filter(Boolean);
  return { id: place, cause: filled(cause, known), do: filled(what, known), write: lines, whose: filled(whose, known) };
}

function part(name, values, { names }) {
  return filled(names.texts.parts[name], values);
}

function titleOf(caller, { titles, reading }) {
  return caller === reading.remoteCode ? "the model's remote code" : titles[caller] || caller;
}

function isOlder(version, release) {
  return Boolean(version && release) && isInside(version, ["<", release]);
}

function isGone(version, came, gone) {
  return Boolean(gone) && !isOlder(version, came);
}

/** Say that the files of a library are of two releases, if one imports a name of another. */
function asksItself(name, error, data) {
  const [library, ...inside] = name.split(".");
  const asking = error.frames.filter((frame) => !passesOn(frame, data)).pop();
  const isModule = error.name === "ModuleNotFoundError";
  if (!(isModule || error.name === "ImportError") || inside.length < (isModule ? 1 : 2)) return null;
  if (!asking || asking.package !== library || !["", "<module>"].includes(asking.function)) return null;
  if (new RegExp(data.names.history.compiled).test(name)) return null;
  return told("own file asks", name, library, data, { title: titleOf(library, data) });
}

function notYet(place, came, library, version, error, data) {
  const { titles, firstRead } = data.names.history;
  const caller = callerOf(error, library, data) || "";
  const values = { caller: titleOf(caller, data), came, here: "", elsewhere: "" };
  if (isOlder(version, came)) values.here = part("here older", { version }, data);
  else if (isOlder(came, firstRead[library])) return told("name of old", place, library, data, { came });
  else if (version) values.elsewhere = part("here newer", { title: titles[library], version }, data);
  const asks = caller === data.reading.remoteCode ? "remote code" : "library";
  return told(caller ? `${asks} asks for what is not yet there` : "name not yet there", place, library, data, values);
}

function hasLeft(place, gone, library, error, data) {
  const caller = callerOf(error, library, data);
  if (!caller) return told("name gone", place, library, data, { gone });
  const values = { caller: titleOf(caller, data), place, title: data.names.history.titles[library], gone };
  return ofCaller(caller, place, library, gone, part("asks for what left", values, data), data);
}

/** Where a library asks for what another does not have, that has to change, and not the script. */
function ofCaller(caller, place, library, gone, cause, data) {
  const named = hasWord(data.names.history.unsloth, caller) ? data.names.history.unsloth : distributionOf(caller, data);
  const isRemote = caller === data.reading.remoteCode;
  const before = gone || (isRemote && library === "transformers" ? "5" : "");
  const [takes, highest] = boundFor(caller.replace(/_zoo$/, ""), library, gone, data);
  const asks = gone ? "library asks" : "library of another time asks";
  return told(isRemote ? "remote code asks" : asks, place, library, data, {
    caller: titleOf(caller, data),
    takes,
    newer: isKnown(caller, data) && !highest ? `pip install -U ${named}` : "",
    gone,
    older: before ? `pip install '${library}${highest || `<${before}`}'` : "",
    cause,
  });
}

function ofUnknownName(place, library, version, error, data) {
  const { history } = data.names;
  const { libraries, others, titles } = history;
  const [name, rest] = [place.split(".").pop(), place.split(".").slice(1).join(".")];
  const module = place.slice(0, Math.max(0, place.length - name.length - 1));
  if (others.includes(library)) {
    const near = Object.values(history.places[library] || {}).flatMap((names) => names.split(" "))
      .find((one) => one !== name && one.toLowerCase() === name.toLowerCase());
    const values = { read: `from ${history.firstRead[library]} on`, near: part("near", { near }, data), remote: "" };
    return near ? [told("name in no release", place, library, data, values)] : [];
  }
  if (!titles[library] || !module) return [];
  const here = version ? part("here", { version }, data) : "";
  const known = libraries[library];
  const stands = standsFor(library, rest, data);
  if (!known || stands.some((stand) => hasWord(known.always, stand) || isInAll(known, stand))) {
    const lacking = history.lacking[place];
    if (known) return [told(lacking ? "name lacking in between" : "name in all releases", place, library, data, { lacking })];
  }
  const caller = callerOf(error, library, data);
  if (caller) {
    const values = { caller: titleOf(caller, data), title: titles[library], place, here };
    return [ofCaller(caller, place, library, "", part("asks for what it lacks", values, data), data)];
  }
  if (known && module === library) {
    const names = topNames(library, data);
    const hasAtTheTop = (one) => topNames(one, data).includes(name) || name in libraries[one].keywords;
    const other = hasAtTheTop(library) ? undefined : Object.keys(libraries).find((one) => one !== library && hasAtTheTop(one));
    if (other) return [told("name of another library", place, library, data, { name, other, other_title: titles[other] })];
    const all = [...names, ...known.always.split(" ")].filter(Boolean);
    const alike = all.find((one) => one.toLowerCase() === name.toLowerCase());
    if (known.isComplete || alike || new RegExp(`^(?:${history.inAList})`).test(name)) {
      const near = alike || closeMatch(name, all, 0.85);
      const isOfAModel = library === "transformers" && new RegExp(history.ofAModel).test(name);
      return [told("name in no release", place, library, data, {
        read: `${known.first} to ${known.last}`,
        near: near ? part("near", { near }, data) : "",
        remote: isOfAModel ? part("remote", {}, data) : "",
      })];
    }
  }
  const [, left] = boundsOfPlace(module, data);
  const values = { name, module, here, left };
  return [told(left ? "name of a module that left" : "name not known", place, library, data, values)];
}

/** Tell whether the first and the last release have a name or module. */
function isInAll({ names }, place) {
  const parts = place.split(".");
  return hasWord(names[" modules"], place) || hasWord(names[parts.slice(0, -1).join(".")], parts[parts.length - 1]);
}

/** Return the names that some release of the history has in the library itself. */
function topNames(library, { names }) {
  const { libraries, places, firstRead } = names.history;
  const bounded = Object.entries(places[library] || {}).filter(([bounds]) => {
    const [came, gone] = bounds.split(" ").map((release) => release.replace("-", ""));
    return !isOlder(came, firstRead[library]) && !(gone && !isOlder(firstRead[library], gone));
  });
  const all = [libraries[library].names[""] || "", ...bounded.map(([, those]) => those)];
  return all.flatMap((those) => those.split(" ")).filter(Boolean);
}

function isClass(owner, { names }) {
  return Object.values(names.history.libraries).some(({ keywords }) => owner in keywords);
}

/** Tell whether the newest release of a library takes a keyword. */
function takes(library, owner, keyword, { names }) {
  const { libraries, keywords } = names.history;
  const [its, , gone] = boundsOf(keywords, owner, keyword);
  return hasWord(libraries[library].keywords[owner], keyword) || (its === library && !gone);
}

/** Tell whether a class takes a keyword from those that it hands it on to; null if that is not known. */
function inherits(library, owner, keyword, data) {
  const { libraries, keywords } = data.names.history;
  const known = libraries[library];
  if (!known || !(owner in known.keywords)) return null;
  if (hasWord(known.keywords[owner], keyword) || boundsOf(keywords, owner, keyword)[0] === library) return true;
  const bases = (known.takenFrom[owner] || []).map((base) =>
    base === "*" ? null : inherits(base.split(".")[0], base.replace(/^[^.]*\./, ""), keyword, data));
  return bases.includes(true) || (bases.includes(null) ? null : false);
}

/** Say which configuration has a keyword that was given to a trainer, or one like it. */
function ofUnknownKeyword(owner, keyword, data) {
  const { history } = data.names;
  const what = `${owner}(${keyword}=)`;
  for (const [library, known] of Object.entries(history.libraries)) {
    if (!owner || !(owner in known.keywords)) continue;
    const read = `${known.first} to ${known.last}`;
    const say = (name, values) => [told(name, what, library, data, { owner, keyword, ...values })];
    if (hasWord(known.keywords[owner], keyword)) return say("keyword in all releases", { read });
    const beside = owner.replaceAll("Trainer", "Config");
    if (beside !== owner && takes(library, beside, keyword, data)) return say("keyword of the configuration", { beside });
    const inherited = inherits(library, owner, keyword, data);
    const libraries = Object.keys(history.libraries);
    const home = inherited ? undefined : [owner.replaceAll("Config", "Trainer"), ...history.homes]
      .find((one) => libraries.some((each) => takes(each, one, keyword, data)));
    if (home) {
      const isOfTrl = owner.endsWith("TrainingArguments") && history.argumentsOfTrl.includes(home);
      return say("keyword of another class", { home, instead: isOfTrl ? part("instead", { owner }, data) : "" });
    }
    const near = closeMatch(keyword, keywordsToday(library, owner, data), 0.75);
    if (near) return say("keyword misspelled", { near });
    if (inherited === false) return say("keyword in no release", { read });
  }
  return [];
}

function keywordsToday(library, owner, { names }) {
  const { libraries, keywords } = names.history;
  const bounded = Object.entries(keywords[owner] || {}).filter(([bounds]) => bounds.startsWith(`${library} `) && bounds.endsWith(" -"));
  const all = [libraries[library].keywords[owner] || "", ...bounded.map(([, those]) => those)];
  return all.flatMap((those) => those.split(" ")).filter(Boolean);
}

/** Say whose argument a keyword is that Python names no class for, as it did before 3.10. */
function ofArguments(keyword, text, data) {
  const { libraries, keywords, mostUsed } = data.names.history;
  if (!keyword.includes("_")) return [];
  const owners = Object.entries(libraries).flatMap(([library, known]) => Object.keys(known.keywords)
    .filter((owner) => /^\p{Lu}/u.test(owner) && !owner.includes(".") && takes(library, owner, keyword, data))
    .map((owner) => ({ owner, library })));
  if (!owners.length) return [];
  const tellsLess = ({ owner, library }) =>
    4 * !new RegExp(`\\b${owner}\\(`).test(text) + 2 * !mostUsed.includes(owner) + (library !== "transformers");
  const [{ owner, library }, ...rest] = owners.sort((one, other) => tellsLess(one) - tellsLess(other));
  const others = rest.filter((one) => one.library === library).map((one) => one.owner);
  const [its, came] = boundsOf(keywords, owner, keyword);
  const { first, last } = libraries[library];
  return [told(its === library && came ? "keyword of arguments since" : "keyword of arguments", `${owner}(${keyword}=)`, library, data, {
    owner,
    others: others.length > 1 ? ` (${others.slice(0, 3).join(", ")})` : "",
    keyword,
    came,
    read: `${first} to ${last}`,
  })];
}

/** Return the likest word, if it is like enough: what difflib's get_close_matches gives first. */
function closeMatch(word, words, least) {
  let best = ["", 0];
  for (const one of new Set(words)) {
    const both = one.length + word.length;
    if ((2 * Math.min(one.length, word.length)) / both < least) continue;
    const ratio = (2 * matched(one, word)) / both;
    if (ratio >= least && (ratio > best[1] || (ratio === best[1] && one > best[0]))) best = [one, ratio];
  }
  return best[0];
}

/** Return how many letters two words share: their longest part in common, and those on its sides. */
function matched(one, other) {
  let [length, here, there] = [0, 0, 0];
  let above = [];
  for (let row = 0; row < one.length; row++) {
    const runs = [];
    for (let column = 0; column < other.length; column++) {
      runs[column] = one[row] === other[column] ? (above[column - 1] || 0) + 1 : 0;
      if (runs[column] > length) [length, here, there] = [runs[column], row - runs[column] + 1, column - runs[column] + 1];
    }
    above = runs;
  }
  if (!length) return 0;
  return length + matched(one.slice(0, here), other.slice(0, there)) +
    matched(one.slice(here + length), other.slice(there + length));
}

function renamed(answer, id) {
  return { ...answer, id, cause: answer.cause.replace(answer.id, id) };
}

/** Return what is known of the names that a line of the text imports from a module. */
function namesBelow(module, pasted, names) {
  const written = module.replaceAll(".", "\\.");
  const imports = [...pasted.text.matchAll(new RegExp(`\\bfrom ${written}[\\w.]* import ([\\w, ()]+)`, "g"))];
  const asked = imports.flatMap(([, list]) => list.match(/\w+/g) || []);
  const below = Object.keys(names.places).filter((place) =>
    place.startsWith(`${module}.`) && asked.includes(place.split(".").pop()));
  return below.slice(0, 3).map((place) => names.places[place]);
}

function classOf(owner) {
  const parts = owner.split(".").filter((part) => !["__init__", "__new__", "<locals>"].includes(part));
  const named = parts.filter((part) => /^_*[A-Z]/.test(part));
  return named.length ? parts.slice(parts.indexOf(named[named.length - 1])).join(".") : parts[parts.length - 1] || "";
}

/** Return what pip calls a package; see patchkit/known/answer.py. */
function distributionOf(caller, { frameworks }) {
  return frameworks.byName[caller]?.distribution || caller.replaceAll("_", "-");
}

/** Tell whether it is known which distribution a package is of. */
function isKnown(caller, data) {
  return data.reading.libraries.includes(caller);
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

// -- What was pasted: patchkit/known/reading.py, pasted.py ---------------------------------------------------

function read(pasted, data) {
  let text = pasted.slice(-data.longest).replace(/\r\n?/g, "\n");
  text = text.replace(new RegExp(data.controls, "g"), "");
  for (const [written, letter] of Object.entries(data.letters)) text = text.replaceAll(written, letter);
  if (text.includes("last):\\n")) text = text.replaceAll("\\n", "\n").replaceAll('\\"', '"');
  text = text.replaceAll("\\'", "'");
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
