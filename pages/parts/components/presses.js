// Every press of Previous and Next counts: pressed while a page is being drawn, several would reach the server as one.
// They are counted here, and the server is told their sum.

const STEPS = { p: -1, n: 1 };
const BUTTONS = { '.st-key-previous button': -1, '.st-key-next button': 1 };
const TYPED = 'input:not([type=checkbox], [type=radio], [type=range], [type=button]), textarea, select';
const held = (window.faithscopePresses ??= { visit: '', sum: 0, told: 0, tell: null, on: false });

const tell = () => {
  if (!held.tell || held.told === held.sum) return;
  held.told = held.sum;
  held.tell({ visit: held.visit, sum: held.sum });
};
const step = (event, by) => {
  if (!by || !held.visit) return;
  // Neither the button nor Streamlit's own keys hear of it.
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!held.on) return;
  // Who writes the address hears of it all the same.
  window.dispatchEvent(new Event('faithscope-press'));
  held.sum += by;
  tell();
};
const typing = (node) => node instanceof HTMLElement && (node.matches(TYPED) || node.isContentEditable);
const key = (event) => {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
  if (plain && !typing(event.composedPath()[0])) step(event, STEPS[event.key.toLowerCase()]);
};
const click = (event) => {
  const at = (buttons) => event.target instanceof Element && event.target.closest(buttons);
  step(event, BUTTONS[Object.keys(BUTTONS).find(at)]);
};

export default function (component) {
  const data = JSON.parse(component.data.json);
  if (held.visit !== data.visit) Object.assign(held, { visit: data.visit, sum: data.taken, told: data.taken });
  held.on = data.on;
  const mine = (held.tell = (value) => component.setStateValue('pressed', value));
  if (!document.documentElement.dataset.presses) {
    document.documentElement.dataset.presses = 'on';
    window.addEventListener('keydown', key, true);
    window.addEventListener('click', click, true);
  }
  tell();
  return () => {
    if (held.tell === mine) held.tell = null;
  };
}
