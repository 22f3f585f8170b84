// Filters the rows of the tables below a box, by the words that are typed into it.
"use strict";

document.querySelectorAll("[data-filter]").forEach((place, number) => {
  const sections = []; // each heading with the tables below it
  for (const found of document.querySelectorAll("article :is(h2, h3, table)")) {
    if (!(place.compareDocumentPosition(found) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
    if (found.tagName !== "TABLE") sections.push({ heading: found, tables: [] });
    else sections.at(-1)?.tables.push(found);
  }
  const tables = sections.flatMap((section) => section.tables);
  const rows = tables.flatMap((table) => [...table.tBodies[0].rows]);
  const texts = rows.map((row) => row.textContent.toLowerCase());

  const label = document.createElement("label");
  const box = document.createElement("input");
  const count = document.createElement("output");
  box.type = "search";
  box.id = `filter-${number}`;
  label.htmlFor = box.id;
  label.append(place.dataset.filter);
  place.append(label, box, count);

  function filter() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, place) => { row.hidden = !words.every((word) => texts[place].includes(word)); });
    for (const { heading, tables } of sections) {
      for (const table of tables) table.hidden = [...table.tBodies[0].rows].every((row) => row.hidden);
      heading.hidden = tables.length > 0 && tables.every((table) => table.hidden);
    }
    const left = rows.filter((row) => !row.hidden).length;
    count.textContent = words.length ? `${left} of ${rows.length} rows` : "";
  }

  box.addEventListener("input", filter);
  filter(); // a browser may keep what was typed when the page is loaded again
});
