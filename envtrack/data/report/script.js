
"use strict";
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);
  const text = (at) => (at < 0 ? "" : data.texts[at]);
  const $ = (id) => document.getElementById(id);
  root.classList.add("js");

  // One view at a time; without this script all of them stand one below the other.
  const views = [...document.querySelectorAll(".view")];
  const links = [...document.querySelectorAll("nav a")];
  function open() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const view = (target && target.closest(".view")) || views[0];
    for (const one of views) one.classList.toggle("off", one !== view);
    for (const link of links) {
      if (link.hash === "#" + view.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (target && target !== view) {
      const details = target.querySelector("details");
      if (details && target.id.startsWith("c-")) details.open = true;
      target.scrollIntoView({ block: "start" });
    } else if (target) scrollTo(0, 0);
    if (view.id === "timeline" && !pan.dataset.seen) {
      pan.scrollLeft = pan.scrollWidth;
      pan.dataset.seen = "yes";
    }
  }

  // The timeline: find, layer, and the keys.
  const pan = $("pan");
  const rows = [...$("commits").tBodies[0].rows];
  const words = rows.map((row, at) => {
    const names = data.changes[at].map((change) => text(change[1]));
    return (row.textContent + " " + names.join(" ")).toLowerCase();
  });
  const layers = data.changes.map((some) => new Set(some.map((change) => text(change[0]))));
  const marks = new Map();
  for (const link of pan.querySelectorAll("a")) {
    const name = link.getAttribute("href").slice(1);
    if (!marks.has(name)) marks.set(name, []);
    marks.get(name).push(link);
  }
  function filter() {
    const wanted = $("find").value.trim().toLowerCase();
    const layer = $("layer").value;
    let count = 0;
    rows.forEach((row, at) => {
      const fits = (!wanted || words[at].includes(wanted)) && (!layer || layers[at].has(layer));
      count += fits;
      row.classList.toggle("off", !fits);
      for (const mark of marks.get(row.id) || []) mark.classList.toggle("dim", !fits);
    });
    $("found").textContent =
      wanted || layer ? count + " of " + rows.length + (rows.length === 1 ? " commit" : " commits") : "";
  }
  $("find").addEventListener("input", filter);
  $("layer").addEventListener("change", filter);
  $("timeline-tools").addEventListener("submit", (event) => event.preventDefault());

  let cursor = 0;
  const step = Number($("cursor").getAttribute("width"));
  function point(at) {
    cursor = Math.min(Math.max(at, 0), rows.length - 1);
    const x = step * (rows.length - cursor);
    $("cursor").setAttribute("x", x - step / 2);
    pan.scrollLeft = x - pan.clientWidth / 2;
    const row = rows[cursor];
    $("found").textContent = [...row.cells]
      .map((cell) => (cell.querySelector("summary") || cell).textContent.trim().replace(/\s+/g, " "))
      .filter(Boolean)
      .join(", ");
  }
  pan.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: 1, ArrowRight: -1, PageUp: 10, PageDown: -10 };
    if (event.key in moves) point(cursor + moves[event.key]);
    else if (event.key === "Home") point(rows.length - 1);
    else if (event.key === "End") point(0);
    else if (event.key === "Enter" && event.target === pan) location.hash = rows[cursor].id;
    else return;
    event.preventDefault();
  });

  // The comparison of any two of the states.
  const order = new Map([...document.querySelectorAll("[data-layer]")].map((one, at) => [one.dataset.layer, at]));
  function build(at) {
    const held = new Map();
    for (let i = 0; i <= at; i += 1) {
      for (const entry of data.states[i].drop) held.delete(entry.join());
      for (const entry of data.states[i].add) held.set(entry.join(), entry);
    }
    return held;
  }
  function gather(side) {
    const machine = Number($(side + "-machine").value);
    const found = new Map();
    for (const [layer, name, said, place] of build(Number($(side + "-commit").value)).values())
      if (place < 0 || place === machine) found.set((place < 0 ? "p" : "f") + name, [layer, name, said]);
    return found;
  }
  function how(before, after) {
    if (before === undefined) return "added";
    if (after === undefined) return "removed";
    const ranks = [data.ranks[before], data.ranks[after]];
    if (ranks.includes(undefined)) return "changed";
    return ranks[0] < ranks[1] ? "upgraded" : "downgraded";
  }
  function compare() {
    const [old, fresh] = [gather("a"), gather("b")];
    const bothFacts = $("a-machine").value !== "-1" && $("b-machine").value !== "-1";
    const told = [];
    for (const key of new Set([...old.keys(), ...fresh.keys()])) {
      if (key[0] === "f" && !bothFacts) continue;
      const [one, other] = [old.get(key), fresh.get(key)];
      if (one && other && one[2] === other[2]) continue;
      const [layer, name] = one || other;
      told.push([text(layer), text(name), one && one[2], other && other[2], key[0]]);
    }
    const rank = (row) => order.get(row[0]) ?? 99;
    told.sort((a, b) => rank(a) - rank(b) || (a[1] < b[1] ? -1 : 1));
    const body = $("comparison").tBodies[0];
    body.replaceChildren(...told.map(makeRow));
    const counted = told.length === 1 ? "1 difference" : told.length + " differences";
    const apart = bothFacts ? "" : "; only packages: facts need a recorded machine on both sides";
    $("compared").textContent = (told.length ? counted : "nothing differs") + apart;
    findCompared();
  }
  function makeRow([layer, name, before, after, kind]) {
    const row = document.createElement("tr");
    const shown = (at) => (at === undefined ? "–" : text(at));
    const manner = kind === "f" && before !== undefined && after !== undefined ? "changed" : how(before, after);
    [layer, name, shown(before), shown(after), manner].forEach((said, at) => {
      const cell = document.createElement(at === 1 ? "th" : "td");
      if (at === 1) cell.scope = "row";
      if (at === 0) {
        const dot = document.createElement("span");
        dot.className = "dot" + (order.has(layer) ? " l-" + layer : "");
        cell.append(dot);
      }
      cell.append(said);
      row.append(cell);
    });
    return row;
  }
  function findCompared() {
    const wanted = $("compare-find").value.trim().toLowerCase();
    for (const row of $("comparison").tBodies[0].rows)
      row.classList.toggle("off", !row.textContent.toLowerCase().includes(wanted));
  }
  function offer(side) {
    const select = $(side + "-machine");
    const kept = select.value;
    const machines = data.states[Number($(side + "-commit").value)].machines;
    const options = machines.map((at) => new Option(text(at), at));
    select.replaceChildren(new Option(machines.length ? "none" : "none recorded", "-1"), ...options);
    select.value = machines.includes(Number(kept)) ? kept : String(machines[0] ?? -1);
  }
  if ($("a-commit")) {
    $("a-commit").value = "1";
    for (const side of ["a", "b"]) {
      offer(side);
      $(side + "-commit").addEventListener("change", () => (offer(side), compare()));
      $(side + "-machine").addEventListener("change", compare);
    }
    $("compare-find").addEventListener("input", findCompared);
    $("compare-tools").addEventListener("submit", (event) => event.preventDefault());
    $("swap").addEventListener("click", () => {
      const [a, b] = [$("a-commit").value, $("b-commit").value];
      const [m, n] = [$("a-machine").value, $("b-machine").value];
      $("a-commit").value = b;
      $("b-commit").value = a;
      offer("a");
      offer("b");
      $("a-machine").value = n;
      $("b-machine").value = m;
      compare();
    });
    compare();
  }

  addEventListener("hashchange", open);
  open();
})();
