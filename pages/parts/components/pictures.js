// Two buttons that save a Plotly figure as the page shows it.

import {
  MARGIN,
  bottomOf,
  canvasFor,
  colourOf,
  footnote,
  holdable,
  saveButtons,
  solid,
  svgNode,
  svgShape,
  today,
  xmlOf,
} from './drawing.js';

// One SVG of the layers that Plotly draws over each other, without what only answers the mouse.
const CLUTTER =
  'script, foreignObject, .hoverlayer, .zoomlayer, .draglayer, .modebar, .nsewdrag, .legendtoggle, ' +
  '.cursor-pointer > rect[fill-opacity="0"]';
const local = (value) => value.replace(/url\((["']?)[^)"']*#([^)"']+)\1\)/g, 'url(#$2)');
const cleaned = (layer) => {
  const copy = layer.cloneNode(true);
  copy.querySelectorAll(CLUTTER).forEach((node) => node.remove());
  for (const node of copy.querySelectorAll('*')) {
    for (const { name, value } of [...node.attributes]) {
      if (/^(on|data-)/.test(name)) node.removeAttribute(name);
      else if (/href$/.test(name) && !/^(#|data:image\/)/.test(value)) node.removeAttribute(name);
      else if (value.includes('url(')) node.setAttribute(name, local(value));
    }
    if (node.firstElementChild === null && node.textContent) node.textContent = holdable(node.textContent);
  }
  return copy;
};
const figureSvg = (root, data, font) => {
  const plot = document.querySelector(`.st-key-${data.figure} .js-plotly-plot`);
  const layers = plot ? [...plot.querySelectorAll('.main-svg')] : [];
  if (!layers.length) throw new Error('the figure is not drawn yet');
  const style = getComputedStyle(root);
  const ground = colourOf(root, '--st-background-color');
  const ink = solid(getComputedStyle(root.querySelector('.save button') || root).color, ground);
  const frame = plot.getBoundingClientRect();
  const notes = footnote(`${data.about} · ${today()}`, frame.width, frame.height + 18, style, ink);
  const [width, height] = [Math.ceil(frame.width + 2 * MARGIN), Math.ceil(bottomOf(notes) + 2 * MARGIN)];
  const svg = svgNode('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img' });
  svg.append(svgNode('title', {}, holdable(data.title)), svgNode('desc', {}, holdable(data.about)));
  if (font) svg.append(svgNode('style', {}, font));
  svg.append(svgNode('rect', { width, height, fill: ground }));
  const body = svgNode('g', { transform: `translate(${MARGIN} ${MARGIN})` });
  for (const layer of layers) {
    const place = layer.getBoundingClientRect();
    const group = svgNode('g', {
      transform: `translate(${place.left - frame.left} ${place.top - frame.top})`,
      'font-family': style.fontFamily.replaceAll('"', "'"),
    });
    const own = getComputedStyle(layer).backgroundColor;
    if (solid(own, ground))
      group.append(svgNode('rect', { width: place.width, height: place.height, fill: solid(own, ground) }));
    group.append(...cleaned(layer).childNodes);
    body.append(group);
  }
  body.append(...notes.map(svgShape));
  svg.append(body);
  return svg;
};
// A picture drawn from SVG knows no fonts of the page: this one is put inside, from what the page has loaded already.
const embedded = async (family) => {
  const wanted = family.split(',')[0].replaceAll(/["']/g, '').trim();
  for (const sheet of document.styleSheets) {
    let rules = [];
    try {
      rules = [...sheet.cssRules];
    } catch {
      continue;
    }
    for (const rule of rules) {
      if (
        !(rule instanceof CSSFontFaceRule) ||
        rule.style.getPropertyValue('font-family').replaceAll(/["']/g, '').trim() !== wanted
      )
        continue;
      if (rule.style.getPropertyValue('font-style') === 'italic') continue;
      const found = /url\(["']?([^"')]+)/.exec(rule.style.getPropertyValue('src'));
      const address = found && new URL(found[1], sheet.href || document.baseURI);
      if (!address || address.origin !== location.origin) continue;
      const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer());
      const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
      return `@font-face{font-family:'${wanted}';font-weight:200 900;src:url(data:font/woff2;base64,${text})}`;
    }
  }
  return '';
};
const figurePng = async (root, data) => {
  const font = await embedded(getComputedStyle(root).fontFamily).catch(() => '');
  const svg = figureSvg(root, data, font);
  const [width, height] = [svg.width.baseVal.value, svg.height.baseVal.value];
  const image = new Image();
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(xmlOf(svg));
  await image.decode();
  const [canvas, brush] = canvasFor(width, height);
  brush.drawImage(image, 0, 0, width, height);
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
};
export default function (component) {
  const root = component.parentElement.querySelector('.figure');
  const data = JSON.parse(component.data.json);
  root.replaceChildren(
    saveButtons(
      data.title,
      data.name,
      () => figureSvg(root, data),
      () => figurePng(root, data),
    ),
  );
}
