// The page "My error": shows answers as soon as something is pasted. Nothing leaves the browser.
"use strict";

(() => {
  const form = document.getElementById("lookup");
  const box = document.getElementById("pasted");
  const answers = document.getElementById("answers");
  const most = 12;

  /** Make an element with a text or children. */
  function element(name, content, attributes = {}) {
    const made = document.createElement(name);
    made.append(...[content].flat());
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  const code = (text) => element("code", text);
  const link = (text, page) => element("a", text, { href: form.dataset.root + page });
  const list = (made) => made.flatMap((one, number) => (number ? [", ", one] : [one]));
  const labelled = (label, content) =>
    [content].flat().length ? [element("p", [element("strong", label), " ", ...[content].flat()])] : [];

  const shown = {
    known: ({ id, page, cause, do: what, write = [], whose, tell, links = [], patches = [], preflight = [] }) => [
      element("p", cause),
      ...labelled("Do:", what),
      ...(write.length ? [element("pre", code(write.join("\n")))] : []),
      ...labelled("Whose:", whose || []),
      ...labelled("Fixed by:", list(patches.map((one) => link(code(one), `patches/${one}/index.html`)))),
      ...labelled("Found before training by:", list(preflight.map((one) => link(code(one), "preflight/index.html")))),
      ...labelled("Sign:", tell || []),
      element("p", list([
        page ? link(id, page) : code(id),
        ...links.map((address) => element("a", "source", { href: address })),
      ])),
    ],
    patch: (row) => [
      element("p", [link(code(row.id), row.page), ` (${row.affects.join(", ")})`]),
      element("p", row.says),
    ],
    quoted: (row) => [
      element("p", link(row.heading, row.page)),
      ...(row.heading.endsWith(row.error) ? [] : [element("p", code(row.error))]),
      ...(row.says ? [element("p", row.says)] : []),
    ],
  };

  const sections = [
    ["known", "What it is", ([{ isPart }]) => (isPart
      ? ["This is a part of these known messages:"]
      : ["The likeliest first. ", code("patchkit explain"), " looks at your versions, too."])],
    ["patch", "Bugs that patchkit fixes", () => [
      "Not every version has each of them. ", code("patchkit list"), " says which yours have, and ",
      code("patchkit run -- python train.py"), " fixes them."]],
    ["quoted", "On other pages", () => ["Errors that were seen, and what is known of them."]],
  ];

  function show() {
    const text = box.value.trim();
    const found = text.length < 4 ? [] : findAnswers(text, PATCHKIT);
    const parts = [];
    for (const [kind, title, advice] of sections) {
      const rows = found.filter((row) => row.kind === kind);
      if (!rows.length) continue;
      parts.push(element("h2", title));
      parts.push(element("p", advice(rows)));
      parts.push(element("ul", rows.slice(0, most).map((row) => element("li", shown[kind](row)))));
      if (rows.length > most) parts.push(element("p", `And ${rows.length - most} more.`));
    }
    if (text.length >= 4 && !found.length) {
      parts.push(element("p", ["Nothing here knows this error. Some bugs raise other texts than those that were " +
        "seen, and some none: see ", link("error messages", "errors/index.html"), " and ",
        link("preflight", "preflight/index.html"), "."]));
    }
    answers.replaceChildren(...parts);
  }

  form.hidden = false;
  box.addEventListener("input", show);
  show(); // a browser may keep what was pasted when the page is loaded again
})();
