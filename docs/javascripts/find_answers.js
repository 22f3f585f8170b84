// Finds what an error speaks of: the same data, patterns and order as `patchkit explain`.
"use strict";

/**
 * Return the answers to an error, the best first.
 *
 * @param {string} text - an error message, part of one, or a whole traceback.
 * @param {object} data - patches, changes and quoted errors; see docs_site/my_error_page.py.
 * @returns {object[]} rows of the data, each with its `kind`: "patch", "change" or "quoted".
 */
function findAnswers(text, data) {
  const line = cleaned(text, data);
  const error = normalize(line, data);
  const changes = changesOf(line, data);
  let patches = data.patches.filter((patch) =>
    patch.messages.some((message) => isSame(error, normalize(message, data), data)));
  // Symptoms are looser than all else: one may be a word that any log has.
  if (!patches.length && !changes.length) {
    patches = data.patches.filter(({ symptom }) =>
      symptom && new RegExp(symptom, "iu").test(line));
  }
  const numberless = withoutNumbers(error);
  const quoted = data.quoted.filter((one) =>
    isSame(numberless, withoutNumbers(normalize(one.error, data)), data));
  return [
    ...patches.map((row) => ({ kind: "patch", ...row })),
    ...changes.map((row) => ({ kind: "change", ...row })),
    ...quoted.map((row) => ({ kind: "quoted", ...row })),
  ];
}

/** Return the rows of the table, those of the class that the error names first. */
function changesOf(text, { patterns, changes }) {
  const all = (pattern) => [...text.matchAll(new RegExp(pattern, "gu"))];
  const found = [];
  for (const [, owner, keyword] of all(patterns.keyword)) {
    const named = changes.filter(({ name, owners }) => owners.length && name === keyword);
    const ofOwner = named.filter(({ owners }) => owners.includes(owner));
    found.push(...(ofOwner.length ? ofOwner : named));
  }
  const places = [
    ...all(patterns.name).map(([, name, module]) => `${module}.${name}`),
    ...all(patterns.module).map(([, module]) => module),
    ...all(patterns.attribute).map(([, module, name]) => `${module}.${name}`),
  ];
  found.push(...changes.filter(({ name, owners }) => !owners.length && places.includes(name)));
  return [...new Set(found)];
}

/** Return a pasted text as the program printed it, on one line. */
function cleaned(text, { controls, beginnings, letters }) {
  let plain = text.replace(new RegExp(controls, "gu"), "");
  for (const [written, letter] of Object.entries(letters)) {
    plain = plain.replaceAll(written, letter);
  }
  plain = plain.replace(new RegExp(beginnings, "gmu"), "");
  return plain.split(/\s+/).filter(Boolean).join(" ");
}

/** Drop case, line breaks and quotes. */
function normalize(text, { quotes }) {
  const unquoted = text.replace(new RegExp(quotes, "gu"), "");
  return unquoted.split(/\s+/).filter(Boolean).join(" ").toLowerCase();
}

/** Make sizes of tensors and versions alike. */
function withoutNumbers(text) {
  return text.replace(/\d+/g, "0");
}

function isSame(error, message, { shortest }) {
  // Without blanks: terminals break lines within words, too.
  const [whole, known] = [error, message].map((one) => one.replaceAll(" ", ""));
  return whole.includes(known) || (error.length >= shortest && known.includes(whole));
}
