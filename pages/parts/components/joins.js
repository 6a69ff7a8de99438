// Words in one line, and under them a row for each pair: a line from the one word to the other and, behind it, what
// they come to. Nothing crosses anything. A line is full and its number has a + where the two raise the score together,
// else dashed and −.

import { make, visible } from './text.js';

const SPACE = 'http://www.w3.org/2000/svg';
// Height of a row, and how far a pair's number stands from its line.
const [ROW, APART, DOT] = [24, 12, 4];
const drawnAs = (tag, attributes, ...inside) => {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...inside);
  return node;
};
export default function (component) {
  const { parentElement } = component;
  const data = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.joins');
  const paired = new Set(data.joins.flatMap(({ first, second }) => [first, second]));
  const words = data.words.map((text, i) => {
    return make('span', paired.has(i) ? 'word own paired' : 'word own', visible(text));
  });
  const line = make('div', 'line', ...words);
  line.dir = 'auto';
  line.style.setProperty('--words', words.length);
  const drawn = make('div', 'drawn', line);
  const scroll = make('div', 'scroll', drawn);
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'region');
  scroll.setAttribute('aria-label', data.label);
  const draw = () => {
    const left = drawn.getBoundingClientRect().left;
    const middles = words.map((word) => {
      const box = word.getBoundingClientRect();
      return box.left + box.width / 2 - left;
    });
    const rows = data.joins.map((join, k) => {
      const [from, to] = [middles[join.first], middles[join.second]].sort((one, other) => one - other);
      const y = ROW * (k + 0.5);
      return drawnAs(
        'g',
        { class: join.against ? 'join against' : 'join', role: 'listitem', 'aria-label': visible(join.told) },
        drawnAs('title', {}, visible(join.told)),
        drawnAs('path', { d: `M ${from} ${y} H ${to}`, 'stroke-width': 1.5 + 3 * join.share }),
        ...[from, to].map((x) => drawnAs('circle', { cx: x, cy: y, r: DOT })),
        drawnAs('text', { x: to + APART, y: y + 4 }, join.text, drawnAs('tspan', { dx: 8 }, visible(join.names))),
      );
    });
    const height = ROW * Math.max(1, rows.length);
    const picture = drawnAs('svg', { width: 1, height, role: 'list' }, ...rows);
    drawn.querySelector('svg')?.remove();
    drawn.append(picture);
    // As wide as its longest row, so that it scrolls instead of being cut.
    const ends = [...picture.querySelectorAll('text')].map((text) => text.getBBox()).map((box) => box.x + box.width);
    picture.setAttribute('width', Math.ceil(Math.max(1, ...ends)));
  };
  root.replaceChildren(scroll, make('div', 'legend', ...data.legend.map((text) => make('span', '', text))));
  draw();
  // Another font or another width moves the words.
  root.watched?.disconnect();
  root.watched = new ResizeObserver(draw);
  root.watched.observe(line);
}
