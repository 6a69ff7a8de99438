// What every page needs of the browser. The key ? opens the sheet of words and keys. Who hears the page is told how far
// work is.
// A button that moves away between the halves of a click, as on a page that streams, is pressed all the same: the
// browser gives the click to whatever lies under the pointer by then.

import { bare, inField } from './keys.js';
import { tellProgress } from './voice.js';

// A hand that presses does not hold the pointer quite still, in pixels.
const STILL = 6;
const BUTTONS = '.stButton button, .stFormSubmitButton button';
const buttonAt = (node) => (node instanceof Element ? node.closest(BUTTONS) : null);
// Drawn anew, a button has the same key.
const keyOf = (button) => {
  const names = button.closest('[class*="st-key-"]')?.classList ?? [];
  return [...names].find((name) => name.startsWith('st-key-'));
};
const standing = ({ button, key }) => {
  if (button.isConnected) return button;
  return key ? document.querySelector(`.${CSS.escape(key)} button`) : null;
};

let held = null;
const press = (event) => {
  const button = event.isPrimary && event.button === 0 ? buttonAt(event.target) : null;
  held = button && { button, key: keyOf(button), x: event.clientX, y: event.clientY };
};
const release = (event) => {
  const [pressed, still] = [held, held && Math.hypot(event.clientX - held.x, event.clientY - held.y) <= STILL];
  held = null;
  if (!still) return;
  const button = standing(pressed);
  if (button && !button.contains(event.target)) button.click();
};

const asked = (event) => {
  if (event.key !== '?' || !bare(event) || inField(event)) return;
  document.querySelector('.st-key-words-and-keys button')?.click();
};

// A page that is drawn writes its choices into the address one after the other, on a slow machine with seconds between
// them: one stop on the way back is what somebody did, not each of them, nor what follows within so many milliseconds.
const TOGETHER = 800;
const pushState = history.pushState.bind(history);
let [written, acted, before] = [0, false, null];
const push = (state, title, url) => {
  const [now, path] = [performance.now(), new URL(url ?? location.href, location.href).pathname];
  if (path !== location.pathname) goTo(state, title, url);
  else {
    const stop = acted && location.search && now - written >= TOGETHER;
    before ??= { state: history.state, url: location.href, stop };
    if (stop) pushState(state, title, url);
    else history.replaceState(state, title, url);
  }
  [written, acted] = [now, false];
};
// What the page that is gone to wrote by then, it wrote while the address still named the page that is left.
const goTo = (state, title, url) => {
  if (before && !before.stop) history.replaceState(before.state, title, before.url);
  if (before?.stop) history.replaceState(state, title, url);
  else pushState(state, title, url);
  before = null;
};
const act = () => ([acted, before] = [true, null]);

// Where a page says another thing than before, its answer is above what was pressed.
let turned = null;
const begin = (turn) => {
  if (turned !== null && turn !== turned) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
  turned = turn;
};

export default function (component) {
  const { style, turn } = JSON.parse(component.data.json);
  begin(turn);
  if (document.documentElement.dataset.steady) return;
  // The page's own style goes with each page that is left; this one stays.
  document.head.append(Object.assign(document.createElement('style'), { textContent: style }));
  document.addEventListener('keydown', asked);
  tellProgress();
  history.pushState = push;
  for (const kind of ['keydown', 'pointerdown', 'click', 'change', 'faithscope-press'])
    window.addEventListener(kind, act, true);
  // The key that leads back is no choice on the page that it leads to.
  window.addEventListener('popstate', () => ([acted, before] = [false, null]));
  document.documentElement.dataset.steady = 'on';
  document.addEventListener('pointerdown', press, true);
  document.addEventListener('pointerup', release, true);
  document.addEventListener('pointercancel', () => (held = null), true);
}
