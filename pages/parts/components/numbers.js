// A pane's numbers: the probability of each class, and where the p-value of its input stands.

import { make, mix, visible } from './text.js';

const SHOWN_CLASSES = 6;
export const titled = (node, name) => {
  node.setAttribute('aria-label', name);
  node.title = name;
  return node;
};
// Where a p-value stands on a scale from 0.001 to 1, each power of ten as wide.
const along = (p) => `${Math.min(100, (100 * (Math.log10(Math.max(p, 0.001)) + 3)) / 3)}%`;
const depth = (p) => Math.min(1, -Math.log10(Math.max(p, 0.001)) / 3);
// The explained and the predicted class and the likeliest others.
const shownClasses = (pane, step) => {
  const likely = step.probabilities.map((_, c) => c).sort((a, b) => step.probabilities[b] - step.probabilities[a]);
  return new Set([...new Set([pane.target, step.predicted, ...likely])].slice(0, SHOWN_CLASSES));
};
const buildClass = (pane) => (label, c) => {
  const of = titled(
    make('span', 'of', make('span', '', visible(label))),
    visible(label) + (c === pane.target ? ' (explained)' : ''),
  );
  const [bar, value, sign] = [make('i'), make('span', 'value'), make('span', 'sign')];
  return {
    row: make('div', 'class' + (c === pane.target ? ' explained' : ''), of, make('span', 'share', bar), value, sign),
    bar,
    value,
    sign,
  };
};
const drawClasses = (nodes, pane, step) => {
  const shown = step ? shownClasses(pane, step) : new Set();
  nodes.rows.forEach(({ row, bar, value, sign }, c) => {
    row.hidden = !shown.has(c);
    if (row.hidden) return;
    row.classList.toggle('predicted', c === step.predicted);
    bar.style.width = 100 * step.probabilities[c] + '%';
    value.textContent = step.probability_texts[c];
    sign.textContent = c === step.predicted ? '▸ predicted' : '';
  });
  nodes.more.textContent = step && shown.size < pane.classes.length ? `+ ${pane.classes.length - shown.size} more` : '';
};
const buildScale = (data) => {
  const at = (node, p, side = 'left') => {
    node.style[side] = along(p);
    return node;
  };
  const ticks = [
    [0.001, 'low-end', '0.001'],
    [0.01, '', '0.01'],
    [data.alpha, '', data.alpha_text],
    [1, 'high-end', '1'],
  ].map(([p, kind, text]) => [p, at(make('span', 'tick ' + kind, text), p)]);
  const [dot, low, limit, named] = ['dot', 'low', 'limit', 'tick alpha'].map((kind) => make('span', kind));
  const scale = make('div', 'scale', make('span', 'ground'), low, limit, ...ticks.map(([, node]) => node), named, dot);
  scale.setAttribute('aria-hidden', 'true');
  // What decides stands where the rule puts it, as a number: its name, in the sentence below, would cover ticks that
  // give way to it.
  const decide = (p) => {
    at(low, p, 'width');
    [limit, named].forEach((node) => at(node, p));
    named.textContent = limitText(p, data);
    named.title = `p below ${p.toPrecision(3)} is rejected`;
    ticks.forEach(([tick, node]) => {
      node.hidden = Math.abs(Math.log10(tick / p)) < 0.5;
    });
  };
  return { scale, dot, decide };
};
// The nodes of a pane's numbers; `box` holds them all.
export const buildNumbers = (pane, data) => {
  const rows = pane.classes.map(buildClass(pane));
  const [said, more, verdict] = [make('span', 'said'), make('div', 'more'), make('div', 'verdict')];
  const { scale, dot, decide } = buildScale(data);
  const cells = pane.layers.map(() => make('i'));
  cells.forEach((cell) => cell.setAttribute('role', 'img'));
  const named = [pane.layers[0], 'MaSF p by layer ↑', pane.layers.at(-1)];
  const ends = named.map((name) => make('span', '', visible(name ?? '')));
  const strip = make('div', '', make('div', 'layers', ...cells), make('div', 'cap', ...ends));
  const title = make('div', 'cap', make('span', '', 'probability of each class'), said);
  const box = make(
    'div',
    'numbers',
    make('div', '', title, make('div', 'classes', ...rows.map(({ row }) => row), more)),
    make('div', 'chance', verdict, scale, strip),
  );
  return { box, said, rows, more, verdict, scale, dot, decide, strip, cells, data };
};
// A limit as a number, that of one test by itself as a share.
const limitText = (p, data) => (p === data.alpha ? data.alpha_text : String(Number(p.toPrecision(2))));
const verdictOf = (pane, step, data) => {
  if (!step) return '';
  if (step.p === null) return 'no MaSF reference';
  if (step.rejected) return `MaSF p = ${step.p_text} ↑ · out-of-distribution ✕`;
  const limit = limitText(pane.gate.limit ?? data.alpha, data);
  return `MaSF p = ${step.p_text} ↑${pane.gate.available ? ` · limit ${limit}` : ''}`;
};
const drawLayer = (cell, name, p, text, out) => {
  cell.style.background = out
    ? mix('var(--warn)', 75 + 25 * depth(p))
    : mix('var(--st-text-color)', 10 + 40 * depth(p));
  cell.textContent = out ? '✕' : '';
  titled(cell, `${name}: MaSF p = ${text}`);
};
const drawChance = ({ verdict, scale, dot, decide, strip, cells, data }, pane, step) => {
  const tested = Boolean(step) && step.p !== null;
  const out = Boolean(step?.rejected);
  verdict.classList.toggle('out', out);
  verdict.textContent = verdictOf(pane, step, data);
  scale.hidden = !tested || Boolean(data.brief);
  decide(pane.gate.limit ?? data.alpha);
  if (tested) dot.style.left = along(step.p);
  dot.classList.toggle('out', out);
  dot.textContent = out ? '✕' : '';
  strip.hidden = Boolean(data.brief) || !step?.layer_ps || !cells.length;
  if (strip.hidden) return;
  cells.forEach((cell, i) =>
    // A cross says "rejected", which a layer by itself never is.
    drawLayer(cell, pane.layers[i], step.layer_ps[i], step.layer_texts[i], out && step.layer_outs[i]),
  );
};
export const drawNumbers = (nodes, pane, step) => {
  drawClasses(nodes, pane, step);
  drawChance(nodes, pane, step);
};
