"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const size = data.x.length;
  const find = (id) => document.getElementById(id);
  const make = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const nameX = (k) => (data.xLabel ? data.xLabel[k] : String(data.x[k]));
  const nameY = (k) => (data.yLabel ? data.yLabel[k] : String(data.y[k]));
  const nameBoth = (k) => `${data.xLabel ? "" : "x "}${nameX(k)} and ${data.yLabel ? "" : "y "}${nameY(k)}`;
  const isDoubtful = (k) => data.confidence !== null && data.confidence[k] !== null && data.confidence[k] < data.below;
  const shown = (value, digits = 4) => (
    value === null || value === undefined ? "\u2013" : String(Number(value.toPrecision(digits)))
  );
  let chosen = -1;
  let doubtful = 0;
  for (let k = 0; k < size; k++) doubtful += isDoubtful(k);

  // ------------------------------------------------------------------------------------ the table
  const columns = [{ title: "x", value: nameX }, { title: "y", value: nameY }];
  for (const name of ["confidence", "margin", "distance"]) {
    if (data[name]) columns.push({ title: name, number: true, value: (k) => data[name][k] });
  }
  const head = document.querySelector("#pairs thead tr");
  const body = document.querySelector("#pairs tbody");
  let sorted = columns.findIndex((column) => column.title === "confidence");
  let ascending = true;
  let order = [];
  let visible = 50;
  if (sorted < 0) sorted = columns.length - 1, ascending = false;

  columns.forEach((column, index) => {
    const cell = make("th", undefined, column.number ? "number" : "");
    cell.scope = "col";
    const button = make("button", column.title);
    button.type = "button";
    button.addEventListener("click", () => {
      ascending = sorted === index ? !ascending : true;
      sorted = index;
      visible = 50;
      arrange();
    });
    cell.append(button);
    head.append(cell);
  });

  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  function arrange() {
    const words = find("search").value.trim().toLowerCase();
    const only = find("only").checked;
    order = [];
    for (let k = 0; k < size; k++) {
      if (only && !isDoubtful(k)) continue;
      if (words && !`${nameX(k)}\n${nameY(k)}`.toLowerCase().includes(words)) continue;
      order.push(k);
    }
    const column = columns[sorted];
    const sign = ascending ? 1 : -1;
    const keys = order.length ? Array.from({ length: size }, (_, k) => column.value(k)) : [];
    order.sort((a, b) => {
      const first = keys[a], second = keys[b];
      if (first === null || second === null) return (first === null) - (second === null) || a - b;
      return sign * (column.number ? first - second : compare(first, second)) || a - b;
    });
    [...head.children].forEach((cell, index) => {
      if (index === sorted) cell.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
    body.replaceChildren();
    fill();
  }

  function fill() {
    const lines = document.createDocumentFragment();
    for (const k of order.slice(body.children.length, visible)) {
      const line = make("tr");
      line.dataset.pair = k;
      if (k === chosen) line.className = "chosen";
      columns.forEach((column, index) => {
        const value = column.value(k);
        const doubt = column.title === "confidence" && isDoubtful(k);
        const cell = make("td", undefined, (column.number ? "number" : "") + (doubt ? " doubtful" : ""));
        if (index === 0) {
          const button = make("button", value);
          button.type = "button";
          button.title = value;
          button.addEventListener("click", () => choose(k, true));
          cell.append(button);
        } else {
          cell.textContent = column.number ? shown(value) + (doubt ? " ?" : "") : value;
          if (!column.number) cell.title = value;
        }
        line.append(cell);
      });
      lines.append(line);
    }
    body.append(lines);
    const rest = order.length - body.children.length;
    find("more").hidden = find("all").hidden = rest <= 0;
    find("all").textContent = `all ${order.length}`;
    find("count").textContent = `${order.length} of ${size} pairs` + (rest > 0 ? `, ${body.children.length} shown` : "");
  }

  find("more").addEventListener("click", () => { visible += 100; fill(); });
  find("all").addEventListener("click", () => { visible = size; fill(); });
  find("search").addEventListener("input", () => { visible = 50; arrange(); });
  find("only").addEventListener("change", () => { visible = 50; arrange(); });
  if (!data.confidence) find("only").parentElement.hidden = true;

  // ------------------------------------------------------------------------- both rows side by side
  function choose(k, scroll) {
    chosen = k;
    for (const line of body.children) line.className = Number(line.dataset.pair) === k ? "chosen" : "";
    const panel = find("detail");
    panel.replaceChildren();
    if (k >= 0) {
      panel.append(make("h3", nameBoth(k)));
      const facts = columns.slice(2).map((column) => `${column.title} ${shown(column.value(k))}`).join(", ");
      panel.append(make("p", facts + (isDoubtful(k) ? ": doubtful" : ""), "hint"));
      const detail = data.details[k];
      if (detail) panel.append(sideBySide(detail));
      else panel.append(make("p", "The rows of this pair are not in the page, which keeps those of the least confident pairs.", "hint"));
      const close = make("button", "close");
      close.type = "button";
      close.addEventListener("click", () => choose(-1));
      panel.append(close);
      if (scroll) {
        panel.focus({ preventScroll: true });
        panel.scrollIntoView({ block: "nearest" });
      }
    }
    draw();
  }

  function sideBySide(detail) {
    const [first, second, differences, which] = detail;
    const box = make("div", undefined, "scroll");
    const table = make("table");
    const top = make("tr");
    for (const title of ["coordinate", "x", "y, mapped", "difference"]) {
      const cell = make("th", title, title === "coordinate" ? "" : "number");
      cell.scope = "col";
      top.append(cell);
    }
    const heading = make("thead");
    heading.append(top);
    table.append(heading);
    const lines = make("tbody");
    first.forEach((value, position) => {
      const index = which ? which[position] : position;
      const line = make("tr");
      line.append(make("td", data.columns ? data.columns[index] : String(index)));
      for (const part of [value, second[position], differences[position]]) {
        line.append(make("td", shown(part, 6), "number"));
      }
      lines.append(line);
    });
    table.append(lines);
    box.append(table);
    if (which) {
      box.prepend(make("p", `The ${which.length} coordinates that differ most, of ${data.dimension}.`, "hint"));
    }
    return box;
  }

  // ------------------------------------------------------------------------------------ the picture
  const canvas = find("clouds");
  const tip = find("tip");
  const pen = canvas.getContext("2d");
  let mapped = true, zoom = 1, centre = null, hover = -1, box = null, view = null;
  const place = (list, k) => [list[2 * k], list[2 * k + 1]];
  const placeX = (k) => place(data.xPlace, k);
  const before = (point) => point.map((value, axis) => (value - data.offset[axis]) / data.scale);
  const placeY = (k) => (mapped ? place(data.yPlace, k) : before(place(data.yPlace, k)));

  // The box around the pairs and the points near them; around all points if asked for, or without pairs.
  function extent(everything) {
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    const add = (point) => point.forEach((value, axis) => {
      if (value === null || !Number.isFinite(value)) return;
      low[axis] = Math.min(low[axis], value);
      high[axis] = Math.max(high[axis], value);
    });
    for (let k = 0; k < size; k++) add(placeX(k)), add(placeY(k));
    const reach = size && !everything ? Math.max(high[0] - low[0], high[1] - low[1]) : Infinity;
    const edges = [low.map((value) => value - reach), high.map((value) => value + reach)];
    let outside = 0;
    const addNear = (point) => {
      const near = point.every((value, axis) => value === null || (value >= edges[0][axis] && value <= edges[1][axis]));
      if (near || reach === Infinity) add(point);
      else outside += 1;
    };
    for (let k = 0; k < data.xAlone.length / 2; k++) addNear(place(data.xAlone, k));
    for (let k = 0; k < data.yAlone.length / 2; k++) addNear(mapped ? place(data.yAlone, k) : before(place(data.yAlone, k)));
    find("whole").textContent = outside ? `whole (${outside} outside)` : "whole";
    return low.map((value, axis) => (value <= high[axis] ? [value, high[axis]] : [0, 1]));
  }

  function look() {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const middle = centre || box.map(([low, high]) => low / 2 + high / 2);
    const wide = Math.max(box[0][1] - box[0][0], Number.MIN_VALUE), tall = Math.max(box[1][1] - box[1][0], Number.MIN_VALUE);
    let unit = Math.min((width - 40) / wide, (height - 40) / tall);
    if (!Number.isFinite(unit)) unit = Math.min((width - 40) / Math.max(wide, tall), 1e300) || 1;
    unit *= zoom;
    view = { middle, unit, width, height };
  }
  const toScreen = ([a, b]) => [
    view.width / 2 + (a - view.middle[0]) * view.unit,
    view.height / 2 - (b - view.middle[1]) * view.unit,
  ];

  function draw() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const ratio = window.devicePixelRatio || 1;
    look();
    if (canvas.width !== Math.round(view.width * ratio) || canvas.height !== Math.round(view.height * ratio)) {
      canvas.width = Math.round(view.width * ratio);
      canvas.height = Math.round(view.height * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, view.width, view.height);
    const many = size * zoom ** -2 > 1500;
    const radius = many ? 1.4 : size > 300 ? 2.5 : 3.5;
    const line = (k) => { pen.moveTo(...toScreen(placeX(k))); pen.lineTo(...toScreen(placeY(k))); };
    const stroke = (kind, width, which) => {
      pen.beginPath();
      which();
      pen.strokeStyle = colour(kind);
      pen.lineWidth = width;
      pen.stroke();
    };
    const each = (test, action) => { for (let k = 0; k < size; k++) if (test(k)) action(k); };
    pen.globalAlpha = many ? 0.45 : 1;
    if (mapped) stroke("join", 0.8, () => each((k) => !isDoubtful(k), line));
    pen.fillStyle = colour("first");
    each(() => true, (k) => {
      const [a, b] = toScreen(placeX(k));
      pen.beginPath();
      pen.arc(a, b, radius, 0, 7);
      pen.fill();
    });
    stroke("second", many ? 0.9 : 1.3, () => each(() => true, (k) => {
      const [a, b] = toScreen(placeY(k));
      pen.rect(a - radius, b - radius, 2 * radius, 2 * radius);
    }));
    pen.globalAlpha = 1;
    stroke("ink", 1.4, () => {
      for (let k = 0; k < data.xAlone.length / 2; k++) cross(toScreen(place(data.xAlone, k)), 4);
      for (let k = 0; k < data.yAlone.length / 2; k++) {
        cross(toScreen(mapped ? place(data.yAlone, k) : before(place(data.yAlone, k))), 4);
      }
    });
    const ring = doubtful > 300 ? 3.5 : 6;
    const marked = () => each(isDoubtful, (k) => {
      const [a, b] = toScreen(placeX(k));
      pen.moveTo(a + ring, b);
      pen.arc(a, b, ring, 0, 7);
      if (mapped) line(k);
    });
    const thick = doubtful > 300 ? 1.2 : 2.4;
    stroke("paper", 2.5 * thick, marked); // a rim, to be seen among many points
    stroke("doubt", thick, marked);
    for (const k of new Set([hover, chosen])) {
      if (k < 0) continue;
      stroke("ink", 2.5, () => {
        line(k);
        for (const point of [placeX(k), placeY(k)]) {
          const [a, b] = toScreen(point);
          pen.moveTo(a + 8, b);
          pen.arc(a, b, 8, 0, 7);
        }
      });
    }
  }
  function cross([a, b], reach) {
    pen.moveTo(a - reach, b - reach);
    pen.lineTo(a + reach, b + reach);
    pen.moveTo(a + reach, b - reach);
    pen.lineTo(a - reach, b + reach);
  }

  function nearest(event, reach) {
    const frame = canvas.getBoundingClientRect();
    const a = event.clientX - frame.left, b = event.clientY - frame.top;
    let best = -1, least = reach * reach;
    for (let k = 0; k < size; k++) {
      for (const point of [placeX(k), placeY(k)]) {
        const [c, d] = toScreen(point);
        // A doubtful pair is found a little earlier than its neighbours.
        const away = ((a - c) ** 2 + (b - d) ** 2) * (isDoubtful(k) ? 0.7 : 1);
        if (away < least) least = away, best = k;
      }
    }
    return best;
  }
  function point(event) {
    const found = nearest(event, 14);
    if (found === hover) return;
    hover = found;
    tip.hidden = hover < 0;
    if (hover >= 0) {
      const confidence = data.confidence ? `, confidence ${shown(data.confidence[hover])}` : "";
      tip.textContent = nameBoth(hover) + confidence;
      const [a, b] = toScreen(placeX(hover));
      tip.style.left = `${Math.max(4, Math.min(a + 12, view.width - tip.offsetWidth - 4))}px`;
      tip.style.top = `${Math.max(4, Math.min(b + 12, view.height - tip.offsetHeight - 4))}px`;
    }
    draw();
  }
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { at: [event.clientX, event.clientY], middle: view.middle, moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag || event.buttons === 0) return point(event);
    const step = [event.clientX - drag.at[0], event.clientY - drag.at[1]];
    if (Math.hypot(...step) < 4 && !drag.moved) return;
    drag.moved = true;
    if (event.pointerType === "mouse") {
      centre = [drag.middle[0] - step[0] / view.unit, drag.middle[1] + step[1] / view.unit];
      draw();
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) {
      const found = nearest(event, 20);
      if (found >= 0) choose(found, true);
    }
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => { hover = -1; tip.hidden = true; draw(); });
  const closer = (factor) => { zoom = Math.min(Math.max(zoom * factor, 1), 1e4); if (zoom === 1) centre = null; draw(); };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // the page scrolls, and a pinch or ctrl zooms
    event.preventDefault();
    closer(event.deltaY < 0 ? 1.25 : 0.8);
  }, { passive: false });
  const focusOn = () => { if (chosen >= 0) centre = placeX(chosen); };
  find("closer").addEventListener("click", () => { focusOn(); closer(1.6); });
  find("further").addEventListener("click", () => closer(1 / 1.6));
  const start = (everything) => { zoom = 1; centre = null; box = extent(everything); draw(); };
  find("whole").addEventListener("click", () => start(true));
  for (const [id, state] of [["after", true], ["before", false]]) {
    find(id).addEventListener("click", () => {
      mapped = state;
      find("after").setAttribute("aria-pressed", String(state));
      find("before").setAttribute("aria-pressed", String(!state));
      start(false);
    });
  }
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  box = extent(false);
  arrange();
  draw();
  document.documentElement.dataset.ready = "yes";
})();
