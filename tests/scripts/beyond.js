// Texts that reach beyond the window or are cut off without a sign, and words of a figure that lie on others.
() => {
  const width = document.documentElement.clientWidth;
  const main = document.querySelector('[data-testid=stMain]');
  const found = main.scrollWidth > main.clientWidth + 1 ? ['the page scrolls sideways'] : [];
  const above = (one) => one.parentElement || one.getRootNode().host;
  const named = (one) => one.textContent.trim().slice(0, 40);
  const boxOf = (one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect();
  };
  // Whether it can be scrolled to, is cut with an ellipsis, or is for readers of the screen alone; else whether it is cut.
  const fate = (one, box) => {
    let cut = false;
    for (let at = one; at && at !== document.body; at = above(at)) {
      const style = getComputedStyle(at);
      const room = at.getBoundingClientRect();
      if (/auto|scroll/.test(style.overflowX) && at !== main && at.scrollWidth > at.clientWidth + 1) return 'seen';
      if (style.textOverflow === 'ellipsis' || (room.width && room.width <= 2)) return 'seen';
      const beyond = box.right > room.right + 2 || box.left < room.left - 2;
      cut ||= /hidden|clip/.test(style.overflowX) && beyond;
    }
    return cut ? 'cut' : '';
  };
  const look = (root) => {
    for (const one of root.querySelectorAll('*')) {
      if (one.shadowRoot) look(one.shadowRoot);
      const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!own || one.closest('[data-testid=stSidebar], .modebar, style, script, title, desc')) continue;
      const box = boxOf(one);
      if (!box.width || !box.height || getComputedStyle(one).visibility === 'hidden') continue;
      const how = fate(one, box);
      if (how === 'cut' || (!how && (box.right > width + 1 || box.left < -1))) found.push(`beyond: ${named(one)}`);
    }
  };
  look(main);
  for (const figure of document.querySelectorAll('.js-plotly-plot')) {
    const words = [...figure.querySelectorAll('svg text')].filter((one) => one.textContent.trim());
    const boxes = words.map((one) => one.getBoundingClientRect());
    for (let i = 0; i < words.length; i++) {
      for (let j = 0; j < i; j++) {
        const wide = Math.min(boxes[i].right, boxes[j].right) - Math.max(boxes[i].left, boxes[j].left);
        const high = Math.min(boxes[i].bottom, boxes[j].bottom) - Math.max(boxes[i].top, boxes[j].top);
        if (wide > 4 && high > 5) found.push(`on each other: ${named(words[i])}, ${named(words[j])}`);
      }
    }
  }
  return found;
};
