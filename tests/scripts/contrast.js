(kinds) => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  // Any CSS colour (color-mix too) painted over a ground.
  const over = (ground, colour) => {
    pen.globalCompositeOperation = 'copy';
    pen.fillStyle = `rgb(${ground.join(',')})`;
    pen.fillRect(0, 0, 1, 1);
    pen.globalCompositeOperation = 'source-over';
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const luminance = (rgb) =>
    rgb
      .map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const above = (node) => node.parentElement || node.getRootNode().host || null;
  // What lies under a node, painted from the page up.
  const grounds = new Map([[null, [255, 255, 255]]]);
  const ground = (node) => {
    if (!grounds.has(node)) grounds.set(node, over(ground(above(node)), getComputedStyle(node).backgroundColor));
    return grounds.get(node);
  };
  const found = [];
  const look = (root) => {
    for (const node of root.querySelectorAll('*')) {
      if (node.shadowRoot) look(node.shadowRoot);
      if (
        !node.matches(kinds) ||
        node.matches('.word.masked') ||
        !node.textContent.trim() ||
        !node.getClientRects().length
      )
        continue;
      const style = getComputedStyle(node),
        under = ground(node);
      let faint = 1;
      for (let up = node; up; up = above(up)) faint *= Number(getComputedStyle(up).opacity);
      const ink = over(under, style.color).map((v, i) => Math.round(v * faint + under[i] * (1 - faint)));
      found.push({
        text: node.textContent.slice(0, 30),
        kind: node.className || node.tagName,
        shaded: style.backgroundColor,
        under: under.join(),
        ratio: ratio(ink, under),
      });
    }
  };
  look(document);
  return found;
};
