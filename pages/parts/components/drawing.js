// What is shown, drawn as SVG and PNG, with a line below that says where it comes from. No request leaves the page.

import { make } from './text.js';

const SPACE = 'http://www.w3.org/2000/svg';
export const MARGIN = 20;
const pen = (() => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  return canvas.getContext('2d', { willReadFrequently: true });
})();
// Any colour of CSS over a ground, as #rrggbb; null where it is wholly transparent.
export const solid = (colour, ground) => {
  pen.globalCompositeOperation = 'copy';
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  if (!pen.getImageData(0, 0, 1, 1).data[3]) return null;
  pen.fillStyle = ground;
  pen.fillRect(0, 0, 1, 1);
  pen.globalCompositeOperation = 'source-over';
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return (
    '#' + [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((part) => part.toString(16).padStart(2, '0')).join('')
  );
};
export const colourOf = (node, name) =>
  solid(getComputedStyle(node).getPropertyValue(name).trim() || '#ffffff', '#ffffff') || '#ffffff';
// What XML may hold: signs for control characters, a replacement for halves of characters.
export const holdable = (text) =>
  text
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\p{Surrogate}\x7f-\x9f\ufffe\uffff]/gu, '\ufffd');
const fontOf = (style) => `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
export const svgNode = (tag, attributes, text) => {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) node.setAttribute(name, typeof value === 'number' ? Math.round(value * 100) / 100 : value);
  }
  if (text !== undefined) node.textContent = text;
  return node;
};
const RIGHT_TO_LEFT = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const letters = (text) =>
  Intl.Segmenter ? [...new Intl.Segmenter().segment(text)].map((part) => part.segment) : [...text];
// A text node as the lines that the browser broke it into: [text, left, top, right, height].
const linesOf = (node) => {
  const range = document.createRange();
  const box = () => [...range.getClientRects()].filter((r) => r.width > 0);
  range.selectNodeContents(node);
  const all = box();
  if (!all.length) return [];
  const bounds = (text, rects) => [
    text,
    Math.min(...rects.map((r) => r.left)),
    rects[0].top,
    Math.max(...rects.map((r) => r.right)),
    rects[0].height,
  ];
  if (all.every((r) => Math.abs(r.top - all[0].top) < r.height / 2)) return [bounds(node.data, all)];
  const lines = [];
  let at = 0;
  for (const letter of letters(node.data)) {
    range.setStart(node, at);
    range.setEnd(node, at + letter.length);
    at += letter.length;
    const rects = box();
    if (!rects.length) continue;
    const last = lines[lines.length - 1];
    if (last && Math.abs(last.rects[0].top - rects[0].top) < rects[0].height / 2) {
      last.text += letter;
      last.rects.push(...rects);
    } else lines.push({ text: letter, rects: [...rects] });
  }
  return lines.map((line) => bounds(line.text, line.rects));
};
// Everything drawn under a node as plain shapes, also what a scrolling box hides now.
const shapesOf = (root, unwanted, ground) => {
  const shapes = [];
  const frame = root.getBoundingClientRect();
  let down = 0;
  const texts = (node, style, faint) => {
    pen.font = fontOf(style);
    const size = pen.measureText('x');
    for (const [line, left, top, right, height] of linesOf(node)) {
      const text = line.trim();
      if (!text) continue;
      const indent = line.length === text.length ? 0 : pen.measureText(line).width - pen.measureText(text).width;
      const rise = (height - size.fontBoundingBoxAscent - size.fontBoundingBoxDescent) / 2 + size.fontBoundingBoxAscent;
      const width = Math.max(1, right - left - indent);
      const rtl = RIGHT_TO_LEFT.test(text) || (!/\p{L}/u.test(text) && style.direction === 'rtl');
      const start = line.startsWith(text) === rtl ? left + indent : left;
      shapes.push({
        kind: 'text',
        x: start + width / 2 - frame.left,
        y: top + rise + down - frame.top,
        width,
        text: holdable(text),
        style,
        fill: solid(style.color, ground),
        faint,
        rtl,
      });
    }
  };
  const boxes = (node, style, faint) => {
    for (const rect of node.getClientRects()) {
      const [x, y, width, height] = [rect.left - frame.left, rect.top + down - frame.top, rect.width, rect.height];
      const fill = solid(style.backgroundColor, ground);
      const stops = node.dataset.stops
        ? JSON.parse(node.dataset.stops).map((colour) => solid(colour, ground) || ground)
        : null;
      const round = parseFloat(style.borderTopLeftRadius) || 0;
      if (fill || stops)
        shapes.push({ kind: 'rect', x, y, width, height, round, fill, stops, faint, mark: node.dataset.shape });
      for (const side of ['Top', 'Bottom']) {
        const thick = parseFloat(style[`border${side}Width`]);
        const middle = side === 'Top' ? y + thick / 2 : y + height - thick / 2;
        const stroke =
          thick && style[`border${side}Style`] !== 'none' ? solid(style[`border${side}Color`], ground) : null;
        if (stroke)
          shapes.push({
            kind: 'line',
            x,
            y: middle,
            width,
            thick,
            stroke,
            faint,
            dotted: style[`border${side}Style`] === 'dotted',
          });
      }
    }
    // A box may hold several lines: each is struck through by itself.
    const struck = style.textDecorationLine.includes('line-through')
      ? [...node.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE)
      : [];
    for (const [, left, top, right, height] of struck.flatMap(linesOf)) {
      const [x, y] = [left - frame.left, top + down - frame.top + height * 0.52];
      shapes.push({ kind: 'line', x, y, width: right - left, thick: 1.3, stroke: solid(style.color, ground), faint });
    }
  };
  const walk = (node, faint) => {
    const style = getComputedStyle(node);
    if (node.matches(unwanted) || style.display === 'none') return;
    const through = faint * Number(style.opacity);
    boxes(node, style, through);
    const hidden = style.overflowY === 'auto' ? node.scrollHeight - node.clientHeight : 0;
    if (hidden > 0) down += node.scrollTop;
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) texts(child, style, through);
      else if (child.nodeType === Node.ELEMENT_NODE) walk(child, through);
    }
    if (hidden > 0) down += hidden - node.scrollTop;
  };
  walk(root, 1);
  return shapes;
};
// Small lines of text under a picture, broken to its width.
export const footnote = (text, width, top, style, fill) => {
  const small = { fontStyle: 'normal', fontWeight: '400', fontSize: '11.5px', fontFamily: style.fontFamily };
  pen.font = fontOf(small);
  const lines = [];
  for (const word of holdable(text).split(' ')) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && pen.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line, i) => ({
    kind: 'text',
    x: 0,
    y: top + 15 * i,
    text: line,
    style: small,
    fill,
    faint: 1,
    note: true,
  }));
};
export const bottomOf = (shapes) =>
  Math.max(
    0,
    ...shapes.map(
      (shape) => shape.y + (shape.kind === 'rect' ? shape.height : shape.kind === 'text' ? 6 : shape.thick),
    ),
  );
export const today = () => new Date().toISOString().slice(0, 10);
// The picture of a node: its shapes, a line about it below, and the size of it all.
export const pictureOf = (root, unwanted, about, title) => {
  const ground = colourOf(root, '--st-background-color');
  const ink = solid(`color-mix(in srgb, ${colourOf(root, '--st-text-color')} 72%, ${ground})`, ground);
  const style = getComputedStyle(root);
  const width = root.getBoundingClientRect().width;
  const shapes = shapesOf(root, unwanted, ground);
  shapes.push(...footnote(`${about} · ${today()}`, width, bottomOf(shapes) + 26, style, ink));
  return {
    shapes,
    ground,
    title: holdable(title),
    about: holdable(about),
    width: Math.ceil(width + 2 * MARGIN),
    height: Math.ceil(bottomOf(shapes) + 2 * MARGIN),
  };
};
export const svgShape = (shape) => {
  const opacity = shape.faint < 1 ? shape.faint : undefined;
  const { x, y, width, height, fill, style } = shape;
  if (shape.kind === 'rect')
    return svgNode('rect', { x, y, width, height, rx: shape.round || undefined, fill, class: shape.mark, opacity });
  if (shape.kind === 'line') {
    return svgNode('line', {
      x1: x + (shape.dotted ? shape.thick / 2 : 0),
      x2: x + width,
      y1: y,
      y2: y,
      stroke: shape.stroke,
      'stroke-width': shape.thick,
      'stroke-dasharray': shape.dotted ? `0 ${shape.thick * 2}` : undefined,
      'stroke-linecap': shape.dotted ? 'round' : undefined,
      opacity,
    });
  }
  return svgNode(
    'text',
    {
      x,
      y,
      fill,
      opacity,
      'font-family': style.fontFamily.replaceAll('"', "'"),
      'font-size': parseFloat(style.fontSize),
      'font-weight': style.fontWeight === '400' ? undefined : style.fontWeight,
      direction: shape.rtl ? 'rtl' : undefined,
      'text-anchor': shape.note ? 'start' : 'middle',
      class: shape.note ? 'about' : undefined,
      // Another font is squeezed or stretched into the word's own box.
      textLength: shape.note ? undefined : width,
      lengthAdjust: shape.note ? undefined : 'spacingAndGlyphs',
    },
    shape.text,
  );
};
export const svgOf = (picture) => {
  const { width, height } = picture;
  const svg = svgNode('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' });
  svg.setAttributeNS('http://www.w3.org/XML/1998/namespace', 'xml:space', 'preserve');
  svg.append(
    svgNode('title', {}, picture.title),
    svgNode('desc', {}, picture.about),
    svgNode('rect', { width, height, fill: picture.ground }),
  );
  const body = svgNode('g', { transform: `translate(${MARGIN} ${MARGIN})` });
  picture.shapes.forEach((shape, i) => {
    const node = svgShape(shape);
    if (shape.stops) {
      const scale = svgNode('linearGradient', { id: `scale-${i}` });
      shape.stops.forEach((colour, k) =>
        scale.append(svgNode('stop', { offset: k / (shape.stops.length - 1), 'stop-color': colour })),
      );
      node.setAttribute('fill', `url(#scale-${i})`);
      body.append(scale);
    }
    body.append(node);
  });
  svg.append(body);
  return svg;
};
export const xmlOf = (svg) => '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(svg);
// Three pixels for one, fewer where the canvas of a browser would be too small for that.
export const canvasFor = (width, height) => {
  const scale = Math.min(3, 16000 / Math.max(width, height), Math.sqrt(100e6 / (width * height)));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.floor(width * scale));
  canvas.height = Math.max(1, Math.floor(height * scale));
  const brush = canvas.getContext('2d');
  brush.scale(canvas.width / width, canvas.height / height);
  return [canvas, brush];
};
const paint = (brush, shape) => {
  brush.globalAlpha = shape.faint;
  if (shape.kind === 'rect') {
    brush.fillStyle = shape.fill;
    if (shape.stops) {
      brush.fillStyle = brush.createLinearGradient(shape.x, 0, shape.x + shape.width, 0);
      shape.stops.forEach((colour, k) => brush.fillStyle.addColorStop(k / (shape.stops.length - 1), colour));
    }
    brush.beginPath();
    brush.roundRect(shape.x, shape.y, shape.width, shape.height, shape.round);
    brush.fill();
  } else if (shape.kind === 'line') {
    brush.strokeStyle = shape.stroke;
    brush.lineWidth = shape.thick;
    brush.lineCap = shape.dotted ? 'round' : 'butt';
    brush.setLineDash(shape.dotted ? [0, shape.thick * 2] : []);
    brush.beginPath();
    brush.moveTo(shape.x + (shape.dotted ? shape.thick / 2 : 0), shape.y);
    brush.lineTo(shape.x + shape.width, shape.y);
    brush.stroke();
  } else {
    brush.font = fontOf(shape.style);
    brush.fillStyle = shape.fill;
    brush.direction = shape.rtl ? 'rtl' : 'ltr';
    brush.textAlign = shape.note ? 'left' : 'center';
    brush.fillText(shape.text, shape.x, shape.y);
  }
};
export const pngOf = (picture) => {
  const [canvas, brush] = canvasFor(picture.width, picture.height);
  brush.fillStyle = picture.ground;
  brush.fillRect(0, 0, picture.width, picture.height);
  brush.translate(MARGIN, MARGIN);
  for (const shape of picture.shapes) paint(brush, shape);
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
};
const hand = (blob, name) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
};
// Two small buttons; svg() gives an <svg>, png() a promise of a blob.
export const saveButtons = (what, name, svg, png) => {
  const box = make('div', 'save');
  const status = make('span');
  status.setAttribute('role', 'status');
  const button = (kind, act) => {
    const node = Object.assign(make('button', '', kind), { type: 'button' });
    node.setAttribute('aria-label', `Download ${what} as ${kind}`);
    node.title = `Download ${what} as ${kind}`;
    node.onclick = async () => {
      status.textContent = '';
      try {
        await document.fonts.ready;
        const blob = await act();
        if (!blob) throw new Error('no picture');
        hand(blob, `${name}.${kind.toLowerCase()}`);
      } catch (error) {
        console.warn(error);
        status.textContent =
          kind === 'PNG'
            ? 'This browser cannot draw a PNG of that size; save the SVG instead.'
            : 'There is no picture to save yet.';
      }
    };
    return node;
  };
  box.append(
    status,
    button('SVG', () => new Blob([xmlOf(svg())], { type: 'image/svg+xml' })),
    button('PNG', png),
  );
  return box;
};
