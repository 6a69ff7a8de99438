// The table of examples with its search, filters and pages; what is asked comes back as an event.

import { keptFocus, make, visible } from './text.js';

export default function (component) {
  const { parentElement, setStateValue } = component;
  const data = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.browser');
  const pick = (kind) => root.querySelector(kind);
  // Numbered, and the last ones together: what is pressed while the server is busy arrives as one request, and none may
  // be lost. Numbers go on from the last that the server knows of; a clock may be set back.
  const ask = (what, value) => {
    const number = Math.max(data.told, root.events?.at(-1)?.number ?? 0) + 1;
    root.events = [...(root.events ?? []), { what, value, number, visit: data.visit }].slice(-20);
    setStateValue('asked', root.events);
  };
  const search = pick('.search');
  if (root.dataset.search !== data.search) {
    // What is being typed is newer than what the server knows.
    if ((parentElement.activeElement !== search && document.activeElement !== search) || !root.dataset.drawn)
      search.value = data.search;
    root.dataset.search = data.search;
  }
  if (!root.dataset.drawn) search.value = data.search;
  // In a narrow window, for a ready-made query, and where the filters are many, the table comes first.
  const first = data.facets.length > 7 || data.queries.some((one) => one.on);
  if (!root.dataset.drawn) pick('.filters').open = window.innerWidth >= 700 && !first;
  root.dataset.drawn = '1';
  search.oninput = () => {
    clearTimeout(root.waiting);
    root.waiting = setTimeout(() => ask('search', [...search.value].slice(0, 500).join('')), 180);
  };
  search.onkeydown = (event) => {
    event.stopPropagation();
    if (event.key === 'Enter') {
      clearTimeout(root.waiting);
      ask('search', [...search.value].slice(0, 500).join(''));
    }
  };
  pick('.found').textContent = data.found;
  const clear = pick('.clear');
  clear.textContent = 'Clear filters';
  clear.hidden = !data.narrows;
  clear.style.display = data.narrows ? '' : 'none';
  clear.onclick = () => {
    clearTimeout(root.waiting);
    search.value = '';
    search.focus({ preventScroll: true });
    ask('clear', '');
  };

  const ready = (one) => {
    const node = make('button', 'chip', one.label);
    node.dataset.key = 'query:' + one.name;
    node.setAttribute('aria-pressed', String(one.on));
    node.setAttribute('aria-disabled', String(!!one.why));
    if (one.on) node.prepend(make('span', 'mark', '✓'));
    node.onclick = () => {
      pick('.why').textContent = one.why;
      if (one.why) return;
      pick('.filters').open = false;
      ask('query', one.name);
    };
    return node;
  };
  const chip = (facet, value) => {
    const node = make('button', 'chip');
    node.dataset.key = facet.key + ':' + value.value;
    node.setAttribute('aria-pressed', String(value.on));
    const many = `${value.count.toLocaleString('en')} example${value.count === 1 ? '' : 's'}`;
    // What is said begins with what is seen, so that whoever speaks to the browser can say what they see.
    node.setAttribute('aria-label', `${visible(value.value)} ${many}`);
    if (value.on) node.append(make('span', 'mark', '✓'), ' ');
    node.append(make('span', '', visible(value.value)), ' ', make('span', 'count', value.count.toLocaleString('en')));
    node.disabled = !value.on && value.count === 0;
    node.onclick = () => ask('toggle', [facet.key, value.value]);
    return node;
  };
  // Whether one of the chosen values is enough, or an example must have all of them.
  const wayOf = (facet, way) => {
    const node = make('button', 'way', way.name);
    node.dataset.key = facet.key + ' way:' + way.value;
    node.setAttribute('aria-pressed', String(way.on));
    node.onclick = () => ask('way', way.value);
    return node;
  };
  const giveFocus = keptFocus(parentElement, root);
  pick('.queries').replaceChildren(...data.queries.map(ready));
  pick('.facets').replaceChildren(
    ...data.facets.flatMap((facet) => {
      const values = make('div', 'values');
      values.setAttribute('role', 'group');
      values.setAttribute('aria-label', facet.name);
      values.append(...facet.ways.map((way) => wayOf(facet, way)), ...facet.values.map((value) => chip(facet, value)));
      return [make('span', 'name', facet.name), values];
    }),
  );

  const head = make('tr');
  data.columns.forEach((column) => {
    const cell = make('th');
    cell.scope = 'col';
    const on = column.order === data.order;
    cell.setAttribute('aria-sort', on ? (data.descending ? 'descending' : 'ascending') : 'none');
    const button = make('button', '', column.name + (on ? (data.descending ? ' ▼' : ' ▲') : ''));
    button.dataset.key = 'order:' + column.order;
    button.title = column.about;
    button.onclick = () => ask('order', column.order);
    cell.append(button);
    head.append(cell);
  });
  pick('thead').replaceChildren(head);

  const marked = (node, text) => {
    const shown = visible(text);
    const low = shown.toLowerCase();
    let at = 0;
    while (at < shown.length) {
      let next = -1,
        length = 0;
      data.terms.forEach((term) => {
        const found = low.indexOf(term, at);
        if (found >= 0 && (next < 0 || found < next)) {
          next = found;
          length = term.length;
        }
      });
      if (next < 0 || low.length !== shown.length) break;
      node.append(shown.slice(at, next), make('mark', '', shown.slice(next, next + length)));
      at = next + length;
    }
    node.append(shown.slice(at));
    return node;
  };
  const predicted = (row) => {
    const node = make('td', 'class');
    const sign = row.right === null ? '' : row.right ? '✓ ' : '✗ ';
    node.append(make('span', row.right === false ? 'wrong' : '', sign + visible(row.predicted)));
    if (row.right !== null) node.title = row.right ? 'right' : 'wrong';
    return node;
  };
  const share = (value) => {
    const box = make('span', 'share');
    const bar = make('i');
    bar.style.width = Math.round(100 * value) + '%';
    box.append(bar);
    return box;
  };
  const draw = (row, i) => {
    const line = make('tr');
    line.dataset.key = 'row:' + row.id;
    line.tabIndex = row.chosen || (i === 0 && !data.rows.some((r) => r.chosen)) ? 0 : -1;
    line.setAttribute('aria-selected', String(row.chosen));
    const text = make('td', 'text');
    text.append(marked(make('span', 'clamp'), row.text));
    if (row.second) text.append(marked(make('span', 'second'), row.second));
    const id = make('td', 'id', visible(row.id));
    id.title = visible(row.id);
    const pin = make('button', 'pin', row.pinned ? '★' : '☆');
    pin.dataset.key = 'pin:' + row.id;
    pin.setAttribute('aria-pressed', String(row.pinned));
    pin.setAttribute('aria-label', 'Pin ' + visible(row.id));
    pin.title = row.pinned ? 'Take off the pin and its note' : 'Pin it; a note can be added below';
    pin.onclick = (event) => {
      event.stopPropagation();
      ask('pin', row.id);
    };
    pin.onkeydown = (event) => event.stopPropagation();
    id.prepend(pin);
    const cells = { row: id, text, label: make('td', 'class', visible(row.label)), predicted: predicted(row) };
    cells['label probability'] = make('td', 'number', row.label_probability);
    cells.confidence = make('td', 'number');
    if (row.share !== null) cells.confidence.append(share(row.share), row.confidence);
    cells.length = make('td', 'number', String(row.length));
    for (const [name, said] of Object.entries(row.traits)) {
      cells[name] = make('td', said === 'not computed' ? 'number unknown' : 'number', said);
    }
    data.columns.forEach((column) => line.append(cells[column.order]));
    line.onclick = () => {
      if (!getSelection().toString()) ask('example', row.id);
    };
    line.onkeydown = (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        ask('example', row.id);
        event.preventDefault();
      }
      const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
      if (step && line[step]) {
        line.tabIndex = -1;
        line[step].tabIndex = 0;
        line[step].focus();
        event.preventDefault();
      }
    };
    return line;
  };
  const lines = data.rows.map(draw);
  if (!lines.length) {
    const line = make('tr');
    const cell = make('td', 'none', 'No example matches. Take a filter away, or search for less.');
    cell.colSpan = data.columns.length;
    line.append(cell);
    lines.push(line);
  }
  pick('tbody').replaceChildren(...lines);
  const pager = (kind, name, page) => {
    const button = pick(kind);
    button.textContent = name;
    // Not disabled: a button that is loses the keyboard.
    const over = page < 1 || page > data.pages;
    button.setAttribute('aria-disabled', String(over));
    button.onclick = () => {
      if (!over) ask('page', page);
    };
  };
  pager('.earlier', '← Earlier', data.page - 1);
  pager('.later', 'Later →', data.page + 1);
  pick('.where').textContent = data.where;
  pick('.pager').style.display = data.pages > 1 ? '' : 'none';
  // The buttons were drawn anew: the one that had the keyboard has it again.
  giveFocus();
}
