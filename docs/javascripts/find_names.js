// Says of names and keywords of the libraries what `patchkit explain` says; find_answers.js asks it.
"use strict";

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

// Adds to a row's answer which release brought or lost the name that the error speaks of.
function withRelease(answer, error, data) {
  const said = [answer.cause, answer.do, ...answer.write].join(" ");
  for (const [place, [library, came, gone]] of boundsOfNamed(error.message, data)) {
    const known = [came, gone].filter(Boolean);
    if (!known.length || known.some((release) => said.includes(release.replace(/\.0$/, "")))) continue;
    const kind = known.length > 1 ? "between" : came ? "since" : "until";
    const values = { place, came, gone, title: data.names.history.titles[library] };
    return { ...answer, cause: `${answer.cause} ${part(kind, values, data)}` };
  }
  return answer;
}

function boundsOfNamed(message, data) {
  const { patterns, history, configuration } = data.names;
  const all = (pattern) => [...message.matchAll(new RegExp(pattern, "g"))];
  const places = [
    ...all(patterns.name).map(([, name, module]) => `${module}.${name}`),
    ...all(patterns.module).map(([, module]) => module),
    ...all(patterns.attribute).map(([, module, name]) => `${module}.${name}`),
  ];
  const titled = places.filter((place) => place.split(".")[0] in history.titles);
  const objects = all(patterns.ofObject).filter(([, owner]) => new RegExp(configuration).test(owner));
  return [
    ...titled.map((place) => [place, [place.split(".")[0], ...boundsOfPlace(place, data)]]),
    ...all(patterns.keyword).map(([, owner, keyword]) => {
      const called = classOf(owner || "");
      return [`${called}(${keyword}=)`, boundsOfKeyword(called, keyword, data)];
    }),
    ...objects.map(([, owner, name]) => [`${owner}.${name}`, boundsOfKeyword(owner, name, data)]),
  ];
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
function boundsOfKeyword(owner, keyword, data) {
  const { names } = data;
  for (const { takenFrom } of Object.values(names.history.libraries)) {
    for (const base of takenFrom[owner] || []) {
      const inherited = boundsOfKeyword(base.replace(/^[^.]*\./, ""), keyword, data);
      if (inherited[0]) return inherited;
    }
  }
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
    const [holder] = boundsOfKeyword(owner, keyword, data);
    if (holder) {
      const { first, last } = history.libraries[holder];
      return [told("keyword in all releases", what, holder, data, { read: `${first} to ${last}` })];
    }
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
