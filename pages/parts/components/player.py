"""A text that is masked step by step, or by hand, drawn in the browser; what was stopped at, or clicked, comes back as
a number.

The markup is constant; texts travel as data and become `textContent`, never markup.
"""

import json

import streamlit as st

from pages.parts.components.drawing import DRAWING_JS
from pages.parts.components.player_style import PLAYER_CSS

_HTML = '<div class="player" role="region"></div><div class="tip" role="tooltip" hidden></div>'

_SHAPES_JS = r"""
const ICONS = { 'First step': 'M2 2h2.4v12H2zM14 2v12L5 8z', 'Step back': 'M12 2v12L3 8z', Play: 'M3 1.5v13L14.5 8z', Pause: 'M3 2h3.6v12H3zM9.4 2H13v12H9.4z',
  'Step forward': 'M4 2v12l9-6z', 'Last step': 'M11.6 2H14v12h-2.4zM2 2v12l9-6z' };
const STATES = { empty: 'not computed yet', kept: 'not rejected', free: 'no verdict', rejected: 'rejected: out-of-distribution', beyond: 'after a rejection' };
const [SHOWN_CLASSES, FRAME_MS, REST_MS] = [6, 900, 300];
// What is inside are nodes and texts, never markup.
const make = (tag, kind, ...inside) => {
  const node = document.createElement(tag);
  if (kind) node.className = kind;
  node.append(...inside);
  return node;
};
const icon = (name) => {
  const svg = svgNode('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' });
  svg.append(svgNode('path', { d: ICONS[name] }));
  return svg;
};
const titled = (node, name) => { node.setAttribute('aria-label', name); node.title = name; return node; };
const button = (name, kind, act, ...inside) => {
  const node = titled(make('button', kind, ...inside), name);
  node.dataset.key = name;
  return Object.assign(node, { type: 'button', onclick: act });
};
// Where a p-value stands on a scale from 0.001 to 1, each power of ten as wide.
const along = (p) => `${Math.min(100, 100 * (Math.log10(Math.max(p, 0.001)) + 3) / 3)}%`;
const mix = (colour, percent) => `color-mix(in srgb, ${colour} ${percent}%, var(--st-background-color))`;
const depth = (p) => Math.min(1, -Math.log10(Math.max(p, 0.001)) / 3);
const stateOf = (step, gate) => (!step ? 'empty' : step.rejected ? 'rejected' : step.beyond ? 'beyond' : step.p === null || !gate.available ? 'free' : 'kept');
// The explained and the predicted class and the likeliest others.
const shownClasses = (pane, step) => {
  const likely = step.probabilities.map((_, c) => c).sort((a, b) => step.probabilities[b] - step.probabilities[a]);
  return new Set([...new Set([pane.target, step.predicted, ...likely])].slice(0, SHOWN_CLASSES));
};
"""

_JS = (
    DRAWING_JS
    + _SHAPES_JS
    + r"""
export default function (component) {
  const { parentElement, setStateValue } = component;
  const data = JSON.parse(component.data.json);
  const [root, tip] = [parentElement.querySelector('.player'), parentElement.querySelector('.tip')];
  const byHand = data.mode === 'what-if';
  const last = data.steps.length - 1;
  const within = (k) => Math.max(0, Math.min(last, k));
  const marked = data.pieces.some((piece) => piece.evidence);
  const premasked = data.pieces.map((piece) => piece.masked);
  const maskOf = (step) => { const mask = [...premasked]; step.masked.forEach((i) => { mask[i] = true; }); return mask; };
  // What the person did outlives new data; another text starts afresh.
  if (root.state?.text !== data.text) {
    [root.state?.beat, root.state?.telling].forEach(clearTimeout);
    root.state = { text: data.text, step: data.step, playing: false, mask: premasked, clicked: false, seen: [] };
  }
  const state = root.state;
  state.step = within(state.step);
  const answer = byHand && data.panes[0]?.steps[0];
  if (answer && !state.clicked) state.mask = maskOf(answer);
  const reach = () => data.steps.findLastIndex((_, k) => data.panes.every((pane) => pane.steps[k]));
  const send = () => setStateValue('step', data.text + ':' + state.step);
  const soon = (what, time) => setTimeout(() => { if (root.isConnected) root.act[what](); }, time);
  // Asks for what comes next, after stopping what was to come.
  const later = (playing) => {
    [state.beat, state.telling].forEach(clearTimeout);
    state.playing = playing;
    if (playing) state.beat = soon('beat', FRAME_MS);
    else state.telling = soon('send', REST_MS);
    draw();
  };
  const beat = () => { if (state.step < reach()) state.step += 1; later(state.step < last); };
  const play = () => { if (!state.playing && state.step >= last) state.step = 0; later(!state.playing); };
  const go = (k) => { state.step = within(k); later(false); };
  const mask = (change) => {
    state.clicked = true;
    state.mask = state.mask.map((on, i) => premasked[i] || change(on, i));
    draw();
    setStateValue('mask', data.text + ':' + state.mask.map(Number).join(''));
  };
  const shownAt = (p) => Math.max(0, standing(data.panes[p], p).at);
  const picture = (node, p) => {
    const which = byHand ? '' : ` · ${data.steps[shownAt(p)].name}, ${data.steps[shownAt(p)].count}`;
    return pictureOf(node, '.save, .buttons, .legend .fresh', data.about + which, data.title + which);
  };
  const fileName = (p) => data.name + (byHand ? '' : `-${p + 1}-step-${shownAt(p)}`);
  // Nodes outlive the data they were drawn with: what they call is always the newest.
  root.act = { send, beat, play, go, mask, picture, fileName, by: (n) => go(state.step + n), end: () => go(last) };
  const mark = (i, on) => root.querySelectorAll(`[data-i="${i}"]`).forEach((n) => n.classList.toggle('same', on));
  const show = (event) => {
    const node = root.pointed = event.currentTarget;
    tip.textContent = brief(node.getAttribute('aria-label'));
    tip.hidden = false;
    const box = node.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(box.left, window.innerWidth - 360)) + 'px';
    tip.style.top = (box.top > 60 ? box.top - tip.offsetHeight - 6 : box.bottom + 6) + 'px';
    mark(node.dataset.i, true);
  };
  const hide = (event) => { tip.hidden = true; root.pointed = null; mark(event.currentTarget.dataset.i, false); };
  const taken = (event) => { event.preventDefault(); event.stopPropagation(); };
  root.onkeydown = byHand ? null : (event) => {
    const to = { ArrowLeft: state.step - 1, ArrowRight: state.step + 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    taken(event);
    go(to);
  };
  const buildText = () => {
    const text = Object.assign(make('div', marked ? 'text roomy' : 'text'), { dir: 'auto' });
    const words = data.pieces.map((piece, i) => {
      const node = make(byHand ? 'button' : 'span', 'word', visible(piece.text));
      node.dataset.i = i;
      if (byHand || !i) node.tabIndex = i ? -1 : 0;
      Object.assign(node, { onmouseenter: show, onmouseleave: hide });
      const toggle = () => { if (!piece.masked) root.act.mask((on, k) => (k === i ? !on : on)); };
      if (byHand) Object.assign(node, { type: 'button', onfocus: show, onblur: hide, onkeydown: walkWords, onclick: toggle, ariaDisabled: String(piece.masked) });
      else node.setAttribute('role', 'img');
      text.append(visible(piece.gap), node);
      return node;
    });
    if (data.rest) text.append(make('span', 'rest', data.rest));
    return { text, words };
  };
  const buildLegend = (pane) => {
    const name = `\u201c${visible(pane.classes[pane.target])}\u201d`;
    const key = (kind, text, colour) => {
      const node = make('span', 'word ' + kind, text);
      node.style.background = colour ? mix(`var(--${colour})`, 100 * data.strongest / 2) : '';
      return node;
    };
    const shades = pane.kind === 'signed' ? [key('against', 'opposes ' + name, 'against'), key('for', 'supports ' + name, 'for')] : [key('', 'matters most', 'for')];
    return make('div', 'legend', ...shades, key('masked', 'masked'), ...(byHand ? [] : [key('fresh', 'newly masked')]),
      ...(marked ? [key('evidence', 'overlined: the evidence')] : []));
  };
  const saving = (what, node, p) => {
    const drawn = () => root.act.picture(node(), p);
    // The file's name is asked for at the click: by then it may be another step.
    return data.about ? saveButtons(what, { toString: () => root.act.fileName(p) }, () => svgOf(drawn()), () => pngOf(drawn())) : '';
  };
  const buildClass = (pane) => (label, c) => {
    const of = titled(make('span', 'of', make('span', '', visible(label))), visible(label) + (c === pane.target ? ' (explained)' : ''));
    const [bar, value, sign] = [make('i'), make('span', 'value'), make('span', 'sign')];
    return { row: make('div', 'class' + (c === pane.target ? ' explained' : ''), of, make('span', 'share', bar), value, sign), bar, value, sign };
  };
  const buildScale = () => {
    const at = (node, p, side = 'left') => { node.style[side] = along(p); return node; };
    const ticks = [[0.001, 'low-end'], [0.01, ''], [1, 'high-end']].filter(([p]) => Math.abs(Math.log10(p / data.alpha)) > 0.5);
    const dot = make('span', 'dot');
    const scale = make('div', 'scale', make('span', 'ground'), at(make('span', 'low'), data.alpha, 'width'), at(make('span', 'limit'), data.alpha),
      ...ticks.map(([p, kind]) => at(make('span', 'tick ' + kind, String(p)), p)), at(make('span', 'tick alpha', data.alpha_text), data.alpha), dot);
    scale.setAttribute('aria-hidden', 'true');
    return { scale, dot };
  };
  const buildPane = (pane, p) => {
    const swatch = make('span', 'swatch');
    swatch.style.background = pane.hue;
    swatch.hidden = pane.hue === 'transparent';
    const names = make('div', 'names', swatch, make('span', 'name', visible(pane.title)), make('span', 'detail', visible(pane.detail)));
    const { text, words } = byHand ? {} : buildText();
    const rows = pane.classes.map(buildClass(pane));
    const [said, more, verdict, gate] = [make('span', 'said'), make('div', 'more'), make('div', 'verdict'), make('div', 'gate')];
    const { scale, dot } = buildScale();
    const cells = pane.layers.map(() => make('i'));
    cells.forEach((cell) => cell.setAttribute('role', 'img'));
    const ends = [pane.layers[0], 'p by layer', pane.layers.at(-1)].map((name) => make('span', '', visible(name ?? '')));
    const strip = make('div', '', make('div', 'layers', ...cells), make('div', 'cap', ...ends));
    const numbers = make('div', 'numbers',
      make('div', '', make('div', 'cap', make('span', '', 'probability of each class'), said), make('div', 'classes', ...rows.map(({ row }) => row), more)),
      make('div', 'chance', verdict, scale, strip));
    const beyond = make('div', 'beyond-line', '\u26a0\ufe0e This and every later step rests on inputs outside the model\u2019s distribution.');
    const head = make('div', 'head', names, byHand ? '' : saving(visible(pane.title), () => box, p));
    const box = make('section', 'pane', head, ...(text ? [make('div', '', text, buildLegend(pane))] : []), numbers, make('div', '', gate, beyond));
    box.setAttribute('aria-label', visible(pane.title));
    return { box, words, said, rows, more, verdict, scale, dot, strip, cells, gate, beyond };
  };
  const buildTimeline = () => {
    const named = data.panes.length > 1;
    const slider = Object.assign(make('input', 'slider'), { type: 'range', max: last, hidden: !last, oninput: () => root.act.go(Number(slider.value)) });
    slider.dataset.key = 'slider';
    slider.setAttribute('aria-label', 'Masking step');
    const cells = data.panes.map((_, p) => data.steps.map((_, k) =>
      Object.assign(button(`${p}:${k}`, 'cell', () => root.act.go(k), make('i'), make('b')), { tabIndex: -1 })));
    const tracks = data.panes.flatMap((pane, p) =>
      [...(named ? [titled(make('span', 'of', visible(pane.title)), visible(pane.title))] : []), make('div', 'track', ...cells[p])]);
    const line = make('div', 'timeline' + (named ? ' named' : ''), ...(named ? [make('span')] : []), slider, ...tracks);
    line.style.setProperty('--count', Math.max(2, data.steps.length));
    return { line, slider, cells };
  };
  const build = () => {
    const focused = (parentElement.activeElement || document.activeElement)?.dataset?.key;
    const act = byHand ? { 'Unmask all': () => root.act.mask(() => false), 'Mask all': () => root.act.mask(() => true) }
      : { 'First step': () => root.act.go(0), 'Step back': () => root.act.by(-1), Play: () => root.act.play(),
        'Step forward': () => root.act.by(1), 'Last step': () => root.act.end() };
    const buttons = Object.fromEntries(Object.entries(act).map(([name, what]) =>
      [name, button(name, name === 'Play' ? 'play' : '', what, byHand ? name : icon(name))]));
    const nodes = { buttons, step: make('span', 'step'), wait: make('span', 'soft'), key: make('div', 'key'), panes: data.panes.map(buildPane),
      ...(byHand ? buildText() : buildTimeline()) };
    nodes.step.setAttribute('role', byHand ? 'status' : 'presentation');
    root.classList.toggle('by-hand', byHand);
    root.setAttribute('aria-label', byHand ? 'Masking by hand' : 'Masking step by step');
    const bar = make('div', 'bar', make('div', 'buttons', ...Object.values(buttons)), nodes.step, nodes.wait,
      byHand ? saving('what masking by hand does', () => root, 0) : '');
    root.replaceChildren(bar, ...(byHand ? [nodes.text, ...data.panes.slice(0, 1).map(buildLegend)] : [nodes.line, nodes.key]),
      make('div', 'panes', ...nodes.panes.map((pane) => pane.box)));
    tip.hidden = true;
    root.pointed = null;
    if (focused) [...root.querySelectorAll('[data-key]')].find((node) => node.dataset.key === focused)?.focus({ preventScroll: true });
    return nodes;
  };
  // The step that can be shown where one stands: the nearest earlier one while this is not computed.
  const earlier = (pane, k) => { let at = k; while (at >= 0 && !pane.steps[at]) at -= 1; return at; };
  const standing = (pane, p) => {
    const at = earlier(pane, state.step);
    if (!byHand) return { step: pane.steps[at], at, pending: at !== state.step, before: pane.steps[earlier(pane, at - 1)] };
    if (pane.steps[0]) state.seen[p] = pane.steps[0];
    return { step: state.seen[p], at: 0, pending: !answer || !pane.steps[0] || maskOf(answer).some((on, i) => on !== state.mask[i]) };
  };
  const drawWords = (words, pane, step, masked, before) => words.forEach((node, i) => {
    const piece = data.pieces[i];
    const value = step && !masked[i] ? step.shades[i] : 0;
    const strong = Math.abs(value) > 0.02;
    const side = value < 0 ? 'against' : 'for';
    // Letters know their direction; a bracket takes that of its text.
    const kinds = { own: /\p{L}/u.test(piece.text), masked: masked[i], fresh: masked[i] && before && !before[i], same: root.pointed?.dataset.i === String(i),
      [side]: strong && pane.kind === 'signed', evidence: piece.evidence };
    node.className = ['word', ...Object.keys(kinds).filter((kind) => kinds[kind])].join(' ');
    node.style.background = strong ? mix(`var(--${side})`, Math.round(Math.min(1, Math.abs(value)) * data.strongest * 1000) / 10) : '';
    node.dataset.shape = strong ? 'shade' : 'word';
    node.querySelector('.place')?.remove();
    if (step && pane.kind === 'rank' && !masked[i]) node.append(make('span', 'place', String(step.places[i])));
    const told = !step?.values[i] || step.masked.includes(i) ? ''
      : `, ${visible(pane.title)} ${step.values[i]} (${step.places[i]} of ${masked.filter((on) => !on).length})`;
    node.setAttribute('aria-label', visible(piece.text) + (piece.evidence ? ', evidence' : '') + (piece.masked ? ', masked in the text' : masked[i] ? ', masked' : told));
    if (byHand) node.setAttribute('aria-pressed', String(masked[i]));
  });
  const drawClasses = (nodes, pane, step) => {
    const shown = step ? shownClasses(pane, step) : new Set();
    nodes.rows.forEach(({ row, bar, value, sign }, c) => {
      row.hidden = !shown.has(c);
      if (row.hidden) return;
      row.classList.toggle('predicted', c === step.predicted);
      bar.style.width = 100 * step.probabilities[c] + '%';
      value.textContent = step.probability_texts[c];
      sign.textContent = c === step.predicted ? '\u25b8 predicted' : '';
    });
    nodes.more.textContent = step && shown.size < pane.classes.length ? `+ ${pane.classes.length - shown.size} more` : '';
  };
  const drawChance = ({ verdict, scale, dot, strip, cells, gate, beyond }, pane, step) => {
    const tested = Boolean(step) && step.p !== null;
    const out = Boolean(step?.rejected);
    verdict.classList.toggle('out', out);
    verdict.textContent = !step ? '' : !tested ? 'no p-value: this model has no reference'
      : `p = ${step.p_text}${out ? ' \u00b7 rejected: out-of-distribution \u2715' : pane.gate.available ? ' \u00b7 not rejected' : ''}`;
    scale.hidden = !tested;
    if (tested) dot.style.left = along(step.p);
    dot.classList.toggle('out', out);
    dot.textContent = out ? '\u2715' : '';
    strip.hidden = !step?.layer_ps || !cells.length;
    if (!strip.hidden) cells.forEach((cell, i) => {
      const p = step.layer_ps[i];
      const low = p < data.alpha;
      cell.style.background = low ? mix('var(--warn)', 75 + 25 * depth(p)) : mix('var(--st-text-color)', 10 + 40 * depth(p));
      cell.textContent = low ? '\u2715' : '';
      titled(cell, `${pane.layers[i]}: p = ${step.layer_texts[i]}`);
    });
    gate.textContent = pane.gate.text;
    beyond.hidden = !step?.beyond;
  };
  const drawBar = ({ step, wait, slider, buttons }) => {
    if (byHand) { step.textContent = `${state.mask.filter(Boolean).length} of ${data.pieces.length} ${data.unit}s masked`; return; }
    const { name, count } = data.steps[state.step];
    step.textContent = `${name} \u00b7 ${count}`;
    wait.textContent = state.playing && state.step >= reach() && data.panes.some((pane) => pane.running) ? 'waiting for the next step \u2026' : '';
    slider.value = state.step;
    slider.setAttribute('aria-valuetext', `${name}, ${count}`);
    const now = state.playing ? 'Pause' : 'Play';
    titled(buttons.Play, now).replaceChildren(icon(now));
    // Not disabled: a button that is loses the keyboard.
    const over = { 'First step': 0, 'Step back': 0, 'Step forward': last, 'Last step': last };
    Object.entries(over).forEach(([which, k]) => buttons[which].setAttribute('aria-disabled', String(state.step === k)));
  };
  const drawTracks = ({ cells, key }) => {
    const seen = new Set();
    data.panes.forEach((pane, p) => cells[p].forEach((cell, k) => {
      const [step, before] = [pane.steps[k], pane.steps[earlier(pane, k - 1)]];
      const is = stateOf(step, pane.gate);
      const turned = Boolean(step && before && step.predicted !== before.predicted);
      seen.add(is).add(turned && 'turned');
      cell.className = `cell ${is}${k === state.step ? ' here' : ''}`;
      cell.firstChild.textContent = is === 'rejected' ? '\u2715' : '';
      cell.lastChild.textContent = turned ? '\u25b2' : '';
      const about = [STATES[is],
        ...(step && step.p !== null ? [`p = ${step.p_text}`] : []), ...(turned ? [`predicts ${visible(pane.classes[step.predicted])} from here`] : [])];
      titled(cell, `${visible(pane.title)}, ${data.steps[k].name}: ${about.join(', ')}`);
    }));
    const signs = Object.keys(STATES).filter((is) => seen.has(is)).map((is) => make('span', 'cell ' + is, make('i', '', is === 'rejected' ? '\u2715' : ''), STATES[is]));
    key.replaceChildren(...signs, seen.has('turned') ? make('span', '', '\u25b2 prediction changes') : '');
  };
  const draw = () => {
    const nodes = root.nodes;
    drawBar(nodes);
    if (!byHand) drawTracks(nodes);
    else if (data.panes.length) drawWords(nodes.words, data.panes[0], standing(data.panes[0], 0).step, state.mask, null);
    data.panes.forEach((pane, p) => {
      const { step, pending, before } = standing(pane, p);
      const own = nodes.panes[p];
      own.box.classList.toggle('pending', pending);
      own.said.textContent = pending ? (pane.running ? 'computing \u2026' : 'not computed') : step.changed ? 'prediction changed' : '';
      if (!byHand) drawWords(own.words, pane, step, step ? maskOf(step) : premasked, before ? maskOf(before) : null);
      drawClasses(own, pane, step);
      drawChance(own, pane, step);
    });
    if (root.pointed && !tip.hidden) tip.textContent = brief(root.pointed.getAttribute('aria-label'));
  };
  const fixed = JSON.stringify({ ...data, step: 0, panes: data.panes.map((pane) => ({ ...pane, steps: [], gate: null, running: null })) });
  if (root.fixed !== fixed) [root.nodes, root.fixed] = [build(), fixed];
  draw();
}
"""
)

_COMPONENT = st.components.v2.component("faithscope_player", html=_HTML, css=PLAYER_CSS, js=_JS)


def player(shown: dict, key: str = "player") -> int | None:
    """Draw the stepper; return the step that the person stopped at, None where none was chosen for this text.

    Args:
        shown: the text, its steps and a pane a model, JSON only; a step that is not computed yet is None. State told
            for another `shown["text"]` counts for nothing.
    """
    return _step(_drawn(shown, key).step, shown["text"], len(shown["steps"]))


def what_if(shown: dict, key: str = "what-if") -> list[int] | None:
    """Draw the same panes for one mask set by hand; return the masked words after the last click, None before any.

    Args:
        shown: as for `player`, with one step. Words masked in the text itself are always among those returned.
    """
    mask = _mask(_drawn(shown | {"mode": "what-if"}, key).mask, shown["text"], len(shown["pieces"]))
    return (
        None
        if mask is None
        else [i for i, (on, piece) in enumerate(zip(mask, shown["pieces"])) if on or piece["masked"]]
    )


def _drawn(shown: dict, key: str):
    # As one string: Streamlit asks pandas about lists and numbers, and importing pandas takes longer than all the rest.
    return _COMPONENT(
        data={"json": json.dumps(shown)}, key=key, on_step_change=lambda: None, on_mask_change=lambda: None
    )


def _step(state, text: str, count: int) -> int | None:
    owner, _, place = str(state).rpartition(":")
    places = [str(k) for k in range(count)]
    return places.index(place) if owner == text and place in places else None


def _mask(state, text: str, count: int) -> list[bool] | None:
    owner, _, marks = str(state).rpartition(":")
    return (
        [mark == "1" for mark in marks] if owner == text and len(marks) == count and set(marks) <= {"0", "1"} else None
    )


def hand_set(text: str, count: int, key: str = "what-if") -> list[bool] | None:
    """The mask that the person last made of this text, before it is drawn again; None before any click."""
    return _mask((st.session_state.get(key) or {}).get("mask"), text, count)
