// A row of coloured words a measure, with a legend; a click tells which word.

import { pictureOf, pngOf, saveButtons, svgOf } from './drawing.js';
import {
  keptFocus,
  laid,
  make,
  pointing,
  shadeOf,
  unknownSaid,
  unknownSign,
  visible,
  walkWords,
} from './text.js';

export default function (component) {
  const { parentElement, setStateValue } = component;
  const { scores, ...data } = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.words');
  const drawScores = () =>
    root.querySelectorAll('.scores').forEach((box, k) =>
      box.replaceChildren(
        ...(scores[k] ?? []).map(({ name, text, href, about, chip, tone }) => {
          const [first, then] = chip
            ? [make('span', 'chip ' + tone, chip), make('span', 'soft', text)]
            : [make('span', 'soft', name), make('span', 'figure', text)];
          const link = make('a', 'score', first, ' ', then);
          return Object.assign(link, { href, title: about, target: '_self' });
        }),
      ),
    );
  // Scores stream in: whoever points at a word meanwhile goes on pointing at it.
  const drawn = JSON.stringify(data);
  if (root.drawn === drawn) {
    if (root.scored !== JSON.stringify(scores)) drawScores();
    root.scored = JSON.stringify(scores);
    return;
  }
  Object.assign(root, { drawn, scored: JSON.stringify(scores) });
  const tip = parentElement.querySelector('.tip');
  const { show, hide } = pointing(root, tip);
  const shade = (value, kind) => shadeOf(value, data.strongest, kind);
  const drawWord = (row, i) => {
    const piece = data.pieces[i];
    const value = row.shades[i];
    const node = make('button', 'word', visible(piece.text), ...unknownSign(piece));
    node.dataset.i = i;
    node.dataset.key = [data.text, row.name, i].join(' ');
    // Letters know their direction; a bracket takes that of its text.
    if (/\p{L}/u.test(piece.text)) node.classList.add('own');
    node.tabIndex = i === 0 ? 0 : -1;
    if (piece.evidence) node.classList.add('evidence');
    node.setAttribute(
      'aria-label',
      visible(piece.text) +
        unknownSaid(piece) +
        (piece.evidence ? ', evidence' : '') +
        (piece.masked ? ', masked in the text' : '') +
        (row.values[i] && ', ' + row.name + ' ' + row.values[i]) +
        (piece.masked || !row.values[i] ? '' : ' (' + row.places[i] + ' of ' + data.free + ')'),
    );
    node.setAttribute('aria-pressed', String(data.chosen === i));
    if (Math.abs(value) > 0.02) {
      node.style.background = shade(value, row.kind);
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
    const box = make('div', data.brief ? 'glance' : 'row');
    const head = make('div', 'head');
    const swatch = make('span', 'swatch');
    swatch.style.background = row.hue;
    head.append(swatch, make('span', 'name', row.name), make('span', 'detail', row.detail));
    if (row.note) head.append(make('span', 'note', row.note));
    swatch.title = row.definition;
    head.querySelector('.name').title = row.definition;
    const text = make('div', over.length ? 'text roomy' : 'text');
    text.dir = 'auto';
    const nodes = data.pieces.map((_, i) => drawWord(row, i));
    text.append(...laid(data.pieces, nodes));
    if (data.rest) text.append(make('span', 'rest', data.rest));
    box.append(head, make('div', 'scores'), text);
    return box;
  };
  const over = data.pieces.some((piece) => piece.evidence) ? [make('span', 'over', 'overlined: the evidence')] : [];
  const legend = make('div', 'legend');
  // What a bar's ends mean stays beside it.
  const scale = (...parts) => make('span', 'ends', ...parts);
  // A bar with its colours from left to right; a picture asks the browser for them once the bar stands on the page.
  const bars = [];
  const scaleOf = (...colours) => {
    const bar = make('span', 'bar');
    bar.style.background = `linear-gradient(to right, ${colours.join(', ')})`;
    bar.dataset.shape = 'scale';
    bars.push([bar, colours]);
    return bar;
  };
  const ground = 'var(--st-background-color)';
  if (data.signed) {
    const bar = scaleOf(shade(-1), ground, shade(1));
    legend.append(scale(make('span', 'key against', data.against), bar, make('span', 'key', data.for)));
  }
  if (data.unsigned) legend.append(scale(scaleOf(ground, shade(1, 'positive')), make('span', '', data.most)));
  legend.append(make('span', '', data.legend), ...over, make('span', 'hint', data.hint));
  const stops = ([bar, colours]) => {
    bar.dataset.stops = JSON.stringify(
      colours.map((colour) => {
        bar.style.color = colour === ground ? 'transparent' : colour;
        return getComputedStyle(bar).color;
      }),
    );
  };
  const picture = () => {
    bars.forEach(stops);
    return pictureOf(root, '.save, .hint, .scores', data.about, data.title);
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
  const giveFocus = keptFocus(parentElement, root);
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
  drawScores();
  tip.hidden = true;
  // Rows stream in: whoever walks along a text's words meanwhile goes on from there.
  giveFocus();
}
