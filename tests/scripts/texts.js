// The innermost block of each visible text, where it begins, and its words; tables, pictures and fields are left out.
() => {
  const main = document.querySelector('[data-testid=stMain]'), found = new Map();
  const skip = 'table, svg, canvas, [data-testid=stDataFrame], .js-plotly-plot, textarea, input, select, option, code, pre, [aria-hidden=true]';
  const roots = [main, ...[...main.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean)];
  for (const root of roots) {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let text = walk.nextNode(); text; text = walk.nextNode()) {
      let node = text.parentElement;
      if (!text.data.trim() || !node || node.closest(skip) || ['STYLE', 'SCRIPT', 'TEMPLATE'].includes(node.tagName)) continue;
      if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      while (node.parentElement && getComputedStyle(node).display.startsWith('inline')) node = node.parentElement;
      const box = node.getBoundingClientRect();
      if (box.width < 2 || box.height < 2) continue;
      found.set(node, [box.top, (found.get(node)?.[1] ?? '') + ' ' + text.data]);
    }
  }
  return [...found.values()];
}
