// Slices of the data, a row each; the name of a row is a link that filters the table of examples by it.

import { make, visible } from './text.js';

export default function (component) {
  const { parentElement, setStateValue } = component;
  const data = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.slices');
  // Numbered as those of the table of examples.
  const ask = (what, value) => {
    const number = Math.max(data.told, root.events?.at(-1)?.number ?? 0) + 1;
    root.events = [...(root.events ?? []), { what, value, number, visit: data.visit }].slice(-20);
    setStateValue('asked', root.events);
  };
  const head = make('tr');
  data.header.forEach((name) => {
    const cell = make('th', '', name);
    cell.scope = 'col';
    head.append(cell);
  });
  root.querySelector('thead').replaceChildren(head);
  const draw = (row) => {
    const line = make('tr');
    line.setAttribute('aria-current', String(row.on));
    const link = make('a', '', visible(row.value));
    // A query and nothing else, so that it stays on this page; opened elsewhere it shows the same.
    link.href = row.link;
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      ask('slice', [row.facet, row.value]);
    };
    const name = make('th');
    name.scope = 'row';
    name.append(link);
    line.append(name, ...row.cells.map((cell, i) => make('td', i === row.cells.length - 1 ? row.kind : '', cell)));
    return line;
  };
  const group = ({ name, rows }) => {
    const line = make('tr', 'group');
    const cell = make('th', '', name);
    cell.colSpan = data.header.length;
    cell.scope = 'rowgroup';
    line.append(cell);
    return [line, ...rows.map(draw)];
  };
  root.querySelector('tbody').replaceChildren(...data.groups.flatMap(group));
}
