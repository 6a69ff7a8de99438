// Where the first picture begins: a figure, the player, coloured words, a table, or the shape of what is to come.
() => {
  const main = document.querySelector('[data-testid=stMain]');
  const roots = [main, ...[...main.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean)];
  const boxes = roots.flatMap(root => [...root.querySelectorAll('.js-plotly-plot, .player .track, :is(.row, .glance) .text, .browser tbody, .stSkeleton')])
    .map(node => node.getBoundingClientRect()).filter(box => box.height > 2);
  return boxes.length ? Math.min(...boxes.map(box => box.top)) : null;
}
