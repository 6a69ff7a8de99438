// A row of coloured words a measure, with a legend; a click tells which word.

import { pictureOf, pngOf, saveButtons, svgOf } from './drawing.js';
import { laid, make, pointing, shadeOf, visible, walkWords } from './text.js';

export default function (component) {
  const { parentElement, setStateValue } = component;
  const data = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.words');
  const tip = parentElement.querySelector('.tip');
  const { show, hide } = pointing(root, tip);
  const shade = (value) => shadeOf(value, data.strongest);
  const drawWord = (row, i) => {
    const piece = data.pieces[i];
    const value = row.shades[i];
    const node = make('button', 'word', visible(piece.text));
    node.dataset.i = i;
    // Letters know their direction; a bracket takes that of its text.
    if (/\p{L}/u.test(piece.text)) node.classList.add('own');
    node.tabIndex = i === 0 ? 0 : -1;
    if (piece.evidence) node.classList.add('evidence');
    node.setAttribute(
      'aria-label',
      visible(piece.text) +
        (piece.evidence ? ', evidence' : '') +
        (piece.masked ? ', masked in the text' : '') +
        (row.values[i] && ', ' + row.name + ' ' + row.values[i]) +
        (piece.masked || !row.values[i] ? '' : ' (' + row.places[i] + ' of ' + data.free + ')'),
    );
    node.setAttribute('aria-pressed', String(data.chosen === i));
    if (Math.abs(value) > 0.02) {
      node.style.background = shade(value);
      node.dataset.shape = 'shade';
      if (row.kind === 'signed') node.classList.add(value < 0 ? 'against' : 'for');
    }
    if (row.kind === 'rank') node.appendChild(make('span', 'place', String(row.places[i])));
    if (piece.masked) node.classList.add('masked');
    if (data.chosen === i) node.classList.add('chosen');
    node.onmouseenter = node.onfocus = show;
    node.onmouseleave = node.onblur = hide;
    node.onkeydown = walkWords;
    node.onclick = () => setStateValue('word', data.chosen === i ? null : data.text + ':' + i);
    return node;
  };
  const drawRow = (row) => {
    const box = make('div', 'row');
    const head = make('div', 'head');
    const swatch = make('span', 'swatch');
    swatch.style.background = row.hue;
    head.append(swatch, make('span', 'name', row.name), make('span', 'detail', row.detail));
    head.title = row.definition;
    const text = make('div', over.length ? 'text roomy' : 'text');
    text.dir = 'auto';
    const nodes = data.pieces.map((_, i) => drawWord(row, i));
    text.append(...laid(data.pieces, nodes));
    if (data.rest) text.append(make('span', 'rest', data.rest));
    box.append(head, text);
    return box;
  };
  const over = data.pieces.some((piece) => piece.evidence) ? [make('span', 'over', 'overlined: the evidence')] : [];
  const legend = make('div', 'legend');
  const bar = make('span', 'bar');
  const low = data.signed ? shade(-1) : shade(0);
  const middle = `var(--st-background-color) ${data.signed ? 50 : 0}%`;
  bar.style.background = `linear-gradient(to right, ${low}, ${middle}, ${shade(1)})`;
  bar.dataset.shape = 'scale';
  if (data.signed) legend.append(make('span', 'key against', data.against));
  legend.append(
    bar,
    make('span', data.signed ? 'key' : '', data.for),
    make('span', '', data.legend),
    ...over,
    make('span', 'hint', data.hint),
  );
  // What a picture needs of the bar is asked when it stands on the page.
  const stops = () =>
    (data.signed ? [shade(-1), 'transparent', shade(1)] : ['transparent', shade(1)]).map((colour) => {
      bar.style.color = colour;
      return getComputedStyle(bar).color;
    });
  const picture = () => {
    bar.dataset.stops = JSON.stringify(stops());
    return pictureOf(root, '.save, .hint', data.about, data.title);
  };
  const waiting = {
    name: '',
    detail: '',
    hue: 'transparent',
    definition: '',
    kind: 'rank',
    shades: data.pieces.map(() => 0),
    places: data.pieces.map(() => ''),
    values: data.pieces.map(() => ''),
  };
  root.replaceChildren(...(data.rows.length ? data.rows.map(drawRow).concat(legend) : [drawRow(waiting)]));
  if (!data.rows.length && over.length) {
    legend.replaceChildren(...over);
    root.append(legend);
  }
  if (data.about && data.rows.length) {
    root.querySelector('.head').append(
      saveButtons(
        'the coloured words',
        data.name,
        () => svgOf(picture()),
        () => pngOf(picture()),
      ),
    );
  }
  tip.hidden = true;
}
