// Words of a text as nodes that can be pointed at and walked along. Texts travel as data.

// What is inside are nodes and texts, never markup.
export const make = (tag, kind, ...inside) => {
  const node = document.createElement(tag);
  if (kind) node.className = kind;
  node.append(...inside);
  return node;
};
export const visible = (text) => text.replaceAll('\u0000', '␀');
// A label with a long text in it, short enough to float beside it; what is said of the text stands at the end.
export const brief = (label) => {
  const all = [...label];
  return all.length > 240 ? all.slice(0, 120).join('') + ' … ' + all.slice(-100).join('') : label;
};
// Words and what stands between them; a comma is not parted from the word before it, nor a bracket from what it opens.
const [CLOSES, OPENS, MOST_TIED] = [/^[\p{Pe}\p{Pf}\p{Po}\p{Pd}]/u, /[\p{Ps}\p{Pi}]$/u, 8];
export const laid = (pieces, nodes) => {
  const inside = [];
  let tied = null;
  nodes.forEach((node, i) => {
    const { gap, text } = pieces[i];
    const bound = i && !gap && (CLOSES.test(text) || OPENS.test(pieces[i - 1].text));
    if (bound && (tied?.childNodes.length ?? 0) < MOST_TIED) {
      if (!tied) inside.push((tied = make('span', 'tied', inside.pop())));
      tied.append(node);
      return;
    }
    tied = null;
    if (gap) inside.push(visible(gap));
    inside.push(node);
  });
  return inside;
};
// Of the words of a text this one is the stop of the tab key.
export const stopAt = (word) =>
  word
    .closest('.text')
    .querySelectorAll('.word')
    .forEach((other) => (other.tabIndex = other === word ? 0 : -1));
// Arrow keys go from word to word; one of them is a stop of the tab key.
export const walkWords = (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const all = [...event.currentTarget.closest('.text').querySelectorAll('.word')];
  const next = all[all.indexOf(event.currentTarget) + step];
  if (next) {
    stopAt(next);
    next.focus();
  }
  event.preventDefault();
  event.stopPropagation();
};
// What floats beside a node that is pointed at: its label. The same word in other rows is marked.
export const pointing = (root, tip) => {
  const mark = (i, on) => root.querySelectorAll(`[data-i="${i}"]`).forEach((node) => node.classList.toggle('same', on));
  const show = (event) => {
    const node = (root.pointed = event.currentTarget);
    tip.textContent = brief(node.getAttribute('aria-label'));
    tip.hidden = false;
    const box = node.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(box.left, window.innerWidth - 360)) + 'px';
    tip.style.top = (box.top > 60 ? box.top - tip.offsetHeight - 6 : box.bottom + 6) + 'px';
    mark(node.dataset.i, true);
  };
  const hide = (event) => {
    tip.hidden = true;
    root.pointed = null;
    mark(event.currentTarget.dataset.i, false);
  };
  return { show, hide };
};
// The key of what had the keyboard last, where its node has gone and nothing else has taken the keyboard.
let last;
const taken = ({ target }) => (last = target.dataset?.key);
const left = ({ target }) => setTimeout(() => target.isConnected && target.dataset?.key === last && (last = undefined));
// Asked before nodes are drawn anew, perhaps in another place: what gives the keyboard back, after, to the one that has
// the same key, now or when it comes.
export const keptFocus = (parentElement, root) => {
  root.addEventListener('focusin', taken);
  root.addEventListener('focusout', left);
  const active = parentElement.activeElement || document.activeElement;
  const focused = active?.dataset?.key ?? (active && active !== document.body ? undefined : last);
  const give = (key) => {
    const node = key && [...root.querySelectorAll('[data-key]')].find((node) => node.dataset.key === key);
    node?.focus({ preventScroll: true });
    if (node?.matches('.word')) stopAt(node);
  };
  return () => {
    give(focused);
    // Drawn in a new place it may come before its old one goes, with the keyboard.
    setTimeout(() => root.isConnected && document.activeElement === document.body && give(last), 500);
  };
};
// A share of a named colour over the page's ground; what the ground lends is as light or dark as the theme.
export const mix = (colour, percent) => `color-mix(in srgb, ${colour} ${percent}%, var(--st-background-color))`;
// The shade of a value in [-1, 1] of a row of this kind; the strongest leaves text readable.
export const shadeOf = (value, strongest, kind = 'signed') =>
  mix(
    `var(--${kind === 'positive' ? 'unsigned' : value < 0 ? 'against' : 'for'})`,
    Math.round(Math.min(1, Math.abs(value)) * strongest * 1000) / 10,
  );
// The sign beside a piece that the tokenizer does not know, and what is said of it.
export const unknownSign = (piece) => (piece.unknown ? [make('span', 'place', 'UNK')] : []);
export const unknownSaid = (piece) => (piece.unknown ? ', not known to the tokenizer' : '');
