async ({ data, pane, step }) => {
  const { buildNumbers, drawNumbers } = await import('/numbers.js');
  const nodes = buildNumbers(pane, data);
  drawNumbers(nodes, pane, step);
  return [nodes.verdict.textContent, nodes.scale.textContent, nodes.scale.hidden];
};
