// Whose a key is: of the field it is pressed in, or of the page.

const FIELDS = 'input, textarea, select, [contenteditable=""], [contenteditable="true"], [role="dialog"]';
// What goes along by arrows itself.
const WALKED = ['combobox', 'grid', 'listbox', 'menu', 'radiogroup', 'slider', 'spinbutton', 'tablist', 'tree'];
const ROLES = WALKED.map((role) => `[role="${role}"]`).join(', ');

// A key that is pressed within a component is told as its host's: the path names what it was pressed in.
const pressedIn = (event, kinds) => event.composedPath().some((node) => node instanceof Element && node.matches(kinds));
export const inField = (event) => pressedIn(event, FIELDS);
export const bare = (event) => !event.ctrlKey && !event.altKey && !event.metaKey;

// What is wider than its place, as a table, scrolls by arrows where it has the focus.
const scrolls = (node) =>
  node instanceof Element &&
  node !== document.documentElement &&
  node.scrollWidth > node.clientWidth + 1 &&
  /auto|scroll/.test(getComputedStyle(node).overflowX);
// Whether an arrow to the left or the right, wherever the focus is, is the page's to take.
export const freeArrow = (event) =>
  bare(event) &&
  !event.shiftKey &&
  !event.defaultPrevented &&
  !pressedIn(event, `${FIELDS}, ${ROLES}`) &&
  !scrolls(event.composedPath()[0]);
