// Draws keys again and again, elsewhere or with others between; what has the keyboard after each.
async (draws) => {
  const { keptFocus } = await import('/text.js');
  const other = document.body.appendChild(document.createElement('input'));
  let host, root, found = [];
  const place = (wait = 0) => {
    const old = host;
    if (wait) setTimeout(() => old.remove(), wait);
    else old?.remove();
    host = document.body.appendChild(document.createElement('div'));
    root = host.attachShadow({ mode: 'open' }).appendChild(document.createElement('div'));
  };
  const draw = (keys) => {
    const give = keptFocus(host.shadowRoot, root);
    root.replaceChildren(...keys.map((key) => {
      const node = document.createElement('button');
      node.dataset.key = key;
      return node;
    }));
    give();
  };
  place();
  draw([...'abc']);
  for (const [what, keys] of draws) {
    if (what === 'anew') place();
    if (what === 'beside') place(50);
    if (what === 'elsewhere') other.focus();
    if (what === 'nowhere') host.shadowRoot.activeElement.blur();
    if (what === 'focus') root.querySelector(`[data-key=${keys}]`).focus();
    else if (keys) draw([...keys]);
    await new Promise((done) => setTimeout(done, what === 'beside' ? 700 : 5));
    found.push(host.shadowRoot.activeElement?.dataset.key ?? '');
  }
  other.remove();
  return found;
}
