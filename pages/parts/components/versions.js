// Two versions of a text in columns, the one's word above the other's; those that changed are framed.

import { make, pointing, shadeOf, visible, walkWords } from './text.js';

export default function (component) {
  const { parentElement } = component;
  const data = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.versions');
  const tip = parentElement.querySelector('.tip');
  const { show, hide } = pointing(root, tip);
  const whole = data.signed || !data.rows.length ? 'signed' : 'positive';
  const shade = (value, kind = whole) => shadeOf(value, data.strongest, kind);
  const said = (row, side, i) => {
    const cell = row?.sides[side][i];
    const parts = [data.names[side] + ': ' + (data.words[side][i] === null ? 'nothing' : visible(data.words[side][i]))];
    if (cell) parts.push(row.name + ' ' + cell.value);
    if (data.changed[i]) parts.push('changed');
    return parts.join(', ');
  };
  const drawWord = (row, side, i) => {
    const text = data.words[side][i];
    const cell = row?.sides[side][i];
    const node = make('span', text === null ? 'word none' : 'word', text === null ? '–' : visible(text));
    node.dataset.i = i;
    node.setAttribute('role', 'img');
    node.setAttribute('aria-label', said(row, side, i));
    node.tabIndex = i || side ? -1 : 0;
    if (text !== null && /\p{L}/u.test(text)) node.classList.add('own');
    if (cell && Math.abs(cell.shade) > 0.02) {
      node.style.background = shade(cell.shade, row.kind);
      if (row.kind === 'signed') node.classList.add(cell.shade < 0 ? 'against' : 'for');
    }
    if (cell && row.kind === 'rank') node.append(make('span', 'place', String(cell.place)));
    if (cell?.masked) node.classList.add('masked');
    node.onmouseenter = node.onfocus = show;
    node.onmouseleave = node.onblur = hide;
    node.onkeydown = walkWords;
    return node;
  };
  const drawRow = (row) => {
    const box = make('div', 'measure');
    if (row) {
      const swatch = make('span', 'swatch');
      swatch.style.background = row.hue;
      const head = make('div', 'head', swatch, make('span', 'name', row.name), make('span', 'detail', row.detail));
      box.append(head);
    }
    const columns = make('div', 'columns text');
    columns.dir = 'auto';
    columns.append(make('span', 'column names', ...data.names.map((name) => make('span', 'called', visible(name)))));
    data.changed.forEach((changed, i) => {
      const column = make('span', changed ? 'column changed' : 'column', drawWord(row, 0, i), drawWord(row, 1, i));
      columns.append(column);
    });
    box.append(columns);
    return box;
  };
  const legend = make('div', 'legend');
  const bar = make('span', 'bar');
  const middle = `var(--st-background-color) ${data.signed ? 50 : 0}%`;
  bar.style.background = `linear-gradient(to right, ${data.signed ? shade(-1) : shade(0)}, ${middle}, ${shade(1)})`;
  if (data.signed) legend.append(make('span', 'key against', data.against));
  if (data.rows.length) legend.append(bar, make('span', data.signed ? 'key' : '', data.for));
  legend.append(make('span', '', data.legend));
  root.replaceChildren(...(data.rows.length ? data.rows : [null]).map(drawRow), legend);
  tip.hidden = true;
}
