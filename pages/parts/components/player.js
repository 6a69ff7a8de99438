// A text that is masked step by step, or by hand; what was stopped at, or clicked, comes back.

import { pictureOf, pngOf, saveButtons, svgNode, svgOf } from './drawing.js';
import { bare, freeArrow } from './keys.js';
import { buildNumbers, drawNumbers, titled } from './numbers.js';
import {
  brief,
  keptFocus,
  laid,
  make,
  mix,
  pointing,
  shadeOf,
  unknownSaid,
  unknownSign,
  visible,
  walkWords,
} from './text.js';

const ICONS = {
  'First step': 'M2 2h2.4v12H2zM14 2v12L5 8z',
  'Step back': 'M12 2v12L3 8z',
  Play: 'M3 1.5v13L14.5 8z',
  Pause: 'M3 2h3.6v12H3zM9.4 2H13v12H9.4z',
  'Step forward': 'M4 2v12l9-6z',
  'Last step': 'M11.6 2H14v12h-2.4zM2 2v12l9-6z',
};
const [FRAME_MS, REST_MS] = [900, 300];
const STATES = {
  empty: 'not computed yet',
  kept: 'not rejected',
  free: 'no verdict',
  rejected: 'rejected: out-of-distribution',
  beyond: 'after a rejection',
};
const icon = (name) => {
  const svg = svgNode('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' });
  svg.append(svgNode('path', { d: ICONS[name] }));
  return svg;
};
const button = (name, kind, act, ...inside) => {
  const node = titled(make('button', kind, ...inside), name);
  node.dataset.key = name;
  return Object.assign(node, { type: 'button', onclick: act });
};
const stateOf = (step, gate) =>
  !step
    ? 'empty'
    : step.rejected
      ? 'rejected'
      : step.beyond
        ? 'beyond'
        : step.p === null || !gate.available
          ? 'free'
          : 'kept';
export default function (component) {
  const { parentElement, setStateValue } = component;
  const data = JSON.parse(component.data.json);
  const [root, tip] = [parentElement.querySelector('.player'), parentElement.querySelector('.tip')];
  const byHand = data.mode === 'what-if';
  const last = data.steps.length - 1;
  const within = (k) => Math.max(0, Math.min(last, k));
  const marked = data.pieces.some((piece) => piece.evidence);
  const premasked = data.pieces.map((piece) => piece.masked);
  const maskOf = (step) => {
    const mask = [...premasked];
    step.masked.forEach((i) => {
      mask[i] = true;
    });
    return mask;
  };
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
  const soon = (what, time) =>
    setTimeout(() => {
      if (root.isConnected) root.act[what]();
    }, time);
  // Asks for what comes next, after stopping what was to come.
  const later = (playing) => {
    [state.beat, state.telling].forEach(clearTimeout);
    state.playing = playing;
    if (playing) state.beat = soon('beat', FRAME_MS);
    else state.telling = soon('send', REST_MS);
    draw();
  };
  const beat = () => {
    if (state.step < reach()) state.step += 1;
    later(state.step < last);
  };
  const play = () => {
    if (!state.playing && state.step >= last) state.step = 0;
    later(!state.playing);
  };
  const go = (k) => {
    state.step = within(k);
    later(false);
  };
  const mask = (change) => {
    state.clicked = true;
    state.mask = state.mask.map((on, i) => premasked[i] || change(on, i));
    draw();
    setStateValue('mask', data.text + ':' + state.mask.map(Number).join(''));
  };
  const shownAt = (p) => Math.max(0, standing(data.panes[p], p).at);
  const picture = (node, p) => {
    const { title, about } = data.panes[p];
    const { name, count } = data.steps[shownAt(p)];
    const headed = `${data.title}, ${visible(title)} · ${name}, ${count}`;
    return pictureOf(node, '.save, .buttons, .legend .fresh', `${about} · ${name}, ${count}`, headed);
  };
  const fileName = (p) => `${data.panes[p].name}-step-${shownAt(p)}`;
  // Nodes outlive the data they were drawn with: what they call is always the newest.
  root.act = { send, beat, play, go, mask, picture, fileName, by: (n) => go(state.step + n), end: () => go(last) };
  const { show, hide } = pointing(root, tip);
  const taken = (event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  root.onkeydown = byHand
    ? null
    : (event) => {
        const to = { ArrowLeft: state.step - 1, ArrowRight: state.step + 1, Home: 0, End: last }[event.key];
        if (to === undefined || !bare(event)) return;
        taken(event);
        go(to);
      };
  // An arrow that nothing else takes steps, wherever the focus is.
  if (!byHand && !root.heard) {
    root.heard = (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!root.isConnected) {
        document.removeEventListener('keydown', root.heard);
        root.heard = null;
      } else if (by && freeArrow(event)) {
        event.preventDefault();
        root.act.by(by);
      }
    };
    document.addEventListener('keydown', root.heard);
  }
  const buildText = () => {
    const text = Object.assign(make('div', marked ? 'text roomy' : 'text'), { dir: 'auto' });
    const words = data.pieces.map((piece, i) => {
      const node = make(byHand ? 'button' : 'span', 'word', visible(piece.text), ...unknownSign(piece));
      node.dataset.i = i;
      if (byHand || !i) node.tabIndex = i ? -1 : 0;
      Object.assign(node, { onmouseenter: show, onmouseleave: hide });
      const toggle = () => {
        if (!piece.masked) root.act.mask((on, k) => (k === i ? !on : on));
      };
      if (byHand)
        Object.assign(node, {
          type: 'button',
          onfocus: show,
          onblur: hide,
          onkeydown: walkWords,
          onclick: toggle,
          ariaDisabled: String(piece.masked),
        });
      else node.setAttribute('role', 'img');
      return node;
    });
    text.append(...laid(data.pieces, words));
    if (data.rest) text.append(make('span', 'rest', data.rest));
    return { text, words };
  };
  const buildLegend = (pane) => {
    // Of a class alone, as in the strip that ships, its name says it.
    const name = `“${visible(pane.explains ?? pane.classes[pane.target])}”`;
    const key = (kind, text, colour) => {
      const node = make('span', 'word ' + kind, text);
      node.style.background = colour ? mix(`var(--${colour})`, (100 * data.strongest) / 2) : '';
      return node;
    };
    const shades =
      pane.kind === 'signed'
        ? [key('against', 'opposes ' + name, 'against'), key('for', 'supports ' + name, 'for')]
        : [key('', 'matters most (no sign)', 'unsigned')];
    return make(
      'div',
      'legend',
      ...shades,
      key('masked', 'masked'),
      ...(byHand ? [] : [key('fresh', 'newly masked')]),
      ...(marked ? [key('evidence', 'overlined: the evidence')] : []),
    );
  };
  const saving = (what, node, p) => {
    const drawn = () => root.act.picture(node(), p);
    // The file's name is asked for at the click: by then it may be another step.
    return saveButtons(
      what,
      { toString: () => root.act.fileName(p) },
      () => svgOf(drawn()),
      () => pngOf(drawn()),
    );
  };
  const buildPane = (pane, p) => {
    const swatch = make('span', 'swatch');
    swatch.style.background = pane.hue;
    swatch.hidden = pane.hue === 'transparent';
    const names = make(
      'div',
      'names',
      swatch,
      make('span', 'name', visible(pane.title)),
      make('span', 'detail', visible(pane.detail)),
    );
    const { text, words } = byHand ? {} : buildText();
    const numbers = buildNumbers(pane, data);
    const gate = make('div', 'gate');
    const beyond = make('div', 'beyond-line', data.beyond_text);
    const head = make('div', 'head', names, byHand || !pane.about ? '' : saving(visible(pane.title), () => box, p));
    const box = make(
      'section',
      'pane',
      head,
      ...(text ? [make('div', '', text, buildLegend(pane))] : []),
      numbers.box,
      make('div', '', gate, beyond),
    );
    box.setAttribute('aria-label', `${visible(pane.title)}, ${byHand ? 'masked by hand' : 'step by step'}`);
    return { box, words, numbers, gate, beyond };
  };
  const buildTimeline = () => {
    const named = data.panes.length > 1;
    const slider = Object.assign(make('input', 'slider'), {
      type: 'range',
      max: last,
      hidden: !last,
      oninput: () => root.act.go(Number(slider.value)),
    });
    slider.dataset.key = 'slider';
    slider.setAttribute('aria-label', 'Masking step');
    const cells = data.panes.map((_, p) =>
      data.steps.map((_, k) =>
        Object.assign(
          button(`${p}:${k}`, 'cell', () => root.act.go(k), make('i'), make('b')),
          { tabIndex: -1 },
        ),
      ),
    );
    const tracks = data.panes.flatMap((pane, p) => [
      ...(named ? [titled(make('span', 'of', visible(pane.title)), visible(pane.title))] : []),
      make('div', 'track', ...cells[p]),
    ]);
    const line = make('div', 'timeline' + (named ? ' named' : ''), ...(named ? [make('span')] : []), slider, ...tracks);
    line.style.setProperty('--count', Math.max(2, data.steps.length));
    return { line, slider, cells };
  };
  const build = () => {
    const giveFocus = keptFocus(parentElement, root);
    const act = byHand
      ? { 'Unmask all': () => root.act.mask(() => false), 'Mask all': () => root.act.mask(() => true) }
      : {
          'First step': () => root.act.go(0),
          'Step back': () => root.act.by(-1),
          Play: () => root.act.play(),
          'Step forward': () => root.act.by(1),
          'Last step': () => root.act.end(),
        };
    const buttons = Object.fromEntries(
      Object.entries(act).map(([name, what]) => [
        name,
        button(name, name === 'Play' ? 'play' : '', what, byHand ? name : icon(name)),
      ]),
    );
    const nodes = {
      buttons,
      step: make('span', 'step'),
      wait: make('span', 'soft'),
      key: make('div', 'key'),
      panes: data.panes.map(buildPane),
      ...(byHand ? buildText() : buildTimeline()),
    };
    nodes.step.setAttribute('role', byHand ? 'status' : 'presentation');
    root.classList.toggle('by-hand', byHand);
    root.setAttribute('aria-label', byHand ? 'Masking by hand' : 'Masking step by step');
    const bar = make('div', 'bar', make('div', 'buttons', ...Object.values(buttons)), nodes.step, nodes.wait);
    root.replaceChildren(
      bar,
      ...(byHand ? [nodes.text, ...data.panes.slice(0, 1).map(buildLegend)] : [nodes.line, nodes.key]),
      make('div', 'panes', ...nodes.panes.map((pane) => pane.box)),
    );
    tip.hidden = true;
    root.pointed = null;
    giveFocus();
    return nodes;
  };
  // The step that can be shown where one stands: the nearest earlier one while this is not computed.
  const earlier = (pane, k) => {
    let at = k;
    while (at >= 0 && !pane.steps[at]) at -= 1;
    return at;
  };
  const standing = (pane, p) => {
    const at = earlier(pane, state.step);
    if (!byHand)
      return { step: pane.steps[at], at, pending: at !== state.step, before: pane.steps[earlier(pane, at - 1)] };
    if (pane.steps[0]) state.seen[p] = pane.steps[0];
    return {
      step: state.seen[p],
      at: 0,
      pending: !answer || !pane.steps[0] || maskOf(answer).some((on, i) => on !== state.mask[i]),
    };
  };
  const drawWords = (words, pane, step, masked, before) =>
    words.forEach((node, i) => {
      const piece = data.pieces[i];
      const value = step && !masked[i] ? step.shades[i] : 0;
      const strong = Math.abs(value) > 0.02;
      const side = value < 0 ? 'against' : 'for';
      // Letters know their direction; a bracket takes that of its text.
      const kinds = {
        own: /\p{L}/u.test(piece.text),
        masked: masked[i],
        fresh: masked[i] && before && !before[i],
        same: root.pointed?.dataset.i === String(i),
        [side]: strong && pane.kind === 'signed',
        evidence: piece.evidence,
      };
      node.className = ['word', ...Object.keys(kinds).filter((kind) => kinds[kind])].join(' ');
      node.style.background = strong ? shadeOf(value, data.strongest, pane.kind) : '';
      node.dataset.shape = strong ? 'shade' : 'word';
      node.querySelector('.rank')?.remove();
      if (step && pane.kind === 'rank' && !masked[i]) node.append(make('span', 'place rank', String(step.places[i])));
      const told =
        !step?.values[i] || step.masked.includes(i)
          ? ''
          : `, ${visible(pane.title)} ${step.values[i]} (${step.places[i]} of ${masked.filter((on) => !on).length})`;
      node.setAttribute(
        'aria-label',
        visible(piece.text) +
          unknownSaid(piece) +
          (piece.evidence ? ', evidence' : '') +
          (piece.masked ? ', masked in the text' : masked[i] ? ', masked' : told),
      );
      if (byHand) node.setAttribute('aria-pressed', String(masked[i]));
    });
  const predicted = () =>
    data.panes.flatMap(({ classes, steps }) => {
      const at = steps[state.step];
      return at ? [`predicts ${visible(classes[at.predicted])} (${at.probability_texts[at.predicted]})`] : [];
    });
  const drawBar = ({ step, wait, slider, buttons }) => {
    if (byHand) {
      step.textContent = `${state.mask.filter(Boolean).length} of ${data.pieces.length} ${data.unit}s masked`;
      return;
    }
    const { name, count } = data.steps[state.step];
    // Of two models the panes show what each predicts.
    const told = data.panes.length > 1 ? [] : predicted();
    titled(step, `${name}, ${count}`).textContent = [name, count, ...told].join(' · ');
    wait.textContent =
      state.playing && state.step >= reach() && data.panes.some((pane) => pane.running)
        ? 'waiting for the next step …'
        : '';
    slider.value = state.step;
    slider.setAttribute('aria-valuetext', `${name}, ${count}`);
    const now = state.playing ? 'Pause' : 'Play';
    titled(buttons.Play, now).replaceChildren(icon(now));
    // Not disabled: a button that is loses the keyboard.
    const over = { 'First step': 0, 'Step back': 0, 'Step forward': last, 'Last step': last };
    Object.entries(over).forEach(([which, k]) =>
      buttons[which].setAttribute('aria-disabled', String(state.step === k)),
    );
  };
  const drawTracks = ({ cells, key }) => {
    const seen = new Set();
    data.panes.forEach((pane, p) =>
      cells[p].forEach((cell, k) => {
        const [step, before] = [pane.steps[k], pane.steps[earlier(pane, k - 1)]];
        const is = stateOf(step, pane.gate);
        const turned = Boolean(step && before && step.predicted !== before.predicted);
        seen.add(is).add(turned && 'turned');
        cell.className = `cell ${is}${k === state.step ? ' here' : ''}`;
        cell.firstChild.textContent = is === 'rejected' ? '✕' : '';
        cell.lastChild.textContent = turned ? '▲' : '';
        const about = [
          STATES[is],
          ...(step && step.p !== null ? [`MaSF p = ${step.p_text}`] : []),
          ...(turned ? [`predicts ${visible(pane.classes[step.predicted])} from here`] : []),
        ];
        titled(cell, `${visible(pane.title)}, ${data.steps[k].name}: ${about.join(', ')}`);
      }),
    );
    const signs = Object.keys(STATES)
      .filter((is) => seen.has(is))
      .map((is) => make('span', 'cell ' + is, make('i', '', is === 'rejected' ? '✕' : ''), STATES[is]));
    key.replaceChildren(...signs, seen.has('turned') ? make('span', '', '▲ prediction changes') : '');
  };
  const draw = () => {
    const nodes = root.nodes;
    drawBar(nodes);
    if (!byHand) drawTracks(nodes);
    else if (data.panes.length)
      drawWords(nodes.words, data.panes[0], standing(data.panes[0], 0).step, state.mask, null);
    data.panes.forEach((pane, p) => {
      const { step, pending, before } = standing(pane, p);
      const own = nodes.panes[p];
      own.box.classList.toggle('pending', pending);
      own.numbers.said.textContent = pending
        ? pane.running
          ? 'computing …'
          : 'not computed'
        : step.changed
          ? 'prediction changed'
          : '';
      if (!byHand) drawWords(own.words, pane, step, step ? maskOf(step) : premasked, before ? maskOf(before) : null);
      drawNumbers(own.numbers, pane, step);
      own.gate.textContent = pane.gate.text;
      own.beyond.hidden = !step?.beyond;
    });
    if (root.pointed && !tip.hidden) tip.textContent = brief(root.pointed.getAttribute('aria-label'));
  };
  const fixed = JSON.stringify({
    ...data,
    step: 0,
    panes: data.panes.map((pane) => ({ ...pane, steps: [], gate: null, running: null })),
  });
  if (root.fixed !== fixed) [root.nodes, root.fixed] = [build(), fixed];
  draw();
}
