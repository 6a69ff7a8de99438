// Nothing of the texts became an element, an attribute that runs, or code that ran.
() => {
  const nodes = (root) =>
    [...root.querySelectorAll('*')].flatMap((n) => (n.shadowRoot ? [n, ...nodes(n.shadowRoot)] : [n]));
  const all = nodes(document);
  const runs = (a) => a.name.startsWith('on') || /^javascript:/i.test(a.value);
  return window.hit === undefined && !all.some((n) => n.getAttribute('src') === 'x' || [...n.attributes].some(runs));
};
