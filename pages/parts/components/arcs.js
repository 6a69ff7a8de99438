// Words in one line and an arc over each pair: solid and + where they raise the score together, else dashed and −.

import { make, visible } from './text.js';

const SPACE = 'http://www.w3.org/2000/svg';
const [LEAST, RISE, MOST, LABEL] = [26, 0.32, 150, 16];
const drawnAs = (tag, attributes, ...inside) => {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...inside);
  return node;
};
// How high the arc between two places goes, and where its number stands: above those that it would cover.
const placed = (ends) => {
  const taken = [];
  return ends.map(([from, to]) => {
    const height = Math.min(MOST, LEAST + RISE * Math.abs(to - from));
    const middle = (from + to) / 2;
    let label = height + 5;
    while (taken.some(([x, y]) => Math.abs(x - middle) < 44 && Math.abs(y - label) < LABEL)) label += LABEL;
    taken.push([middle, label]);
    return { from, to, height, middle, label };
  });
};
export default function (component) {
  const { parentElement } = component;
  const data = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.arcs');
  const paired = new Set(data.arcs.flatMap(({ first, second }) => [first, second]));
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
    const places = placed(data.arcs.map(({ first, second }) => [middles[first], middles[second]]));
    const floor = Math.max(LEAST, ...places.map(({ label }) => label)) + LABEL;
    const picture = drawnAs('svg', { width: Math.max(1, drawn.clientWidth), height: floor, role: 'list' });
    data.arcs.forEach((arc, k) => {
      const { from, to, height, middle, label } = places[k];
      const top = floor - height * 1.33;
      const path = `M ${from} ${floor} C ${from} ${top}, ${to} ${top}, ${to} ${floor}`;
      picture.append(
        drawnAs(
          'g',
          { class: arc.against ? 'arc against' : 'arc', role: 'listitem', 'aria-label': visible(arc.told) },
          drawnAs('title', {}, visible(arc.told)),
          drawnAs('path', { d: path, 'stroke-width': 1.5 + 3 * arc.share }),
          drawnAs('text', { x: middle, y: floor - label + 4 }, arc.text),
        ),
      );
    });
    drawn.querySelector('svg')?.remove();
    drawn.prepend(picture);
  };
  root.replaceChildren(scroll, make('div', 'legend', ...data.legend.map((text) => make('span', '', text))));
  draw();
  // Another font or another width moves the words.
  root.watched?.disconnect();
  root.watched = new ResizeObserver(draw);
  root.watched.observe(line);
}
