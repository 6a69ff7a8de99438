"""The table of examples with its search, filters and pages, drawn in the browser; what is asked comes back as an event.

The markup is constant; texts travel as data and become `textContent`, never markup.
"""

import json

import streamlit as st

from core.figures.palette import SUPPORTS

_HTML = """
<div class="browser" role="region" aria-label="Examples">
  <div class="bar"><input class="search" type="search" autocomplete="off" spellcheck="false" aria-label="Search in texts"
    placeholder="Search: all words must occur, &quot;quoted words&quot; together"><span class="found" role="status"></span><button class="clear"></button></div>
  <div class="facets"></div>
  <div class="scroll"><table><thead></thead><tbody></tbody></table></div>
  <div class="pager"><button class="earlier"></button><span class="where"></span><button class="later"></button></div>
</div>
"""

_CSS = f"""
.browser {{ --hue: {SUPPORTS}; --line: var(--st-border-color-light, rgba(125,133,144,.25));
  --soft: color-mix(in srgb, var(--st-text-color) 72%, var(--st-background-color));
  font-family: var(--st-font); color: var(--st-text-color); font-size: .92rem; }}
.bar {{ display: flex; gap: .8rem; align-items: center; flex-wrap: wrap; }}
.search {{ all: unset; box-sizing: border-box; flex: 1 1 18rem; padding: .5rem .7rem; border: 1px solid var(--st-border-color, rgba(125,133,144,.5)); border-radius: 8px;
  background: var(--st-secondary-background-color); color: var(--st-text-color); }}
.search:focus-visible {{ outline: 2px solid var(--st-primary-color); }}
.found {{ font-weight: 600; white-space: nowrap; }}
button {{ all: unset; box-sizing: border-box; cursor: pointer; border-radius: 999px; padding: .16rem .6rem;
  border: 1px solid var(--st-border-color, rgba(125,133,144,.5)); }}
button:hover:not(:disabled) {{ border-color: var(--st-primary-color); }}
button:focus-visible, tr:focus-visible {{ outline: 3px solid var(--st-primary-color); outline-offset: 1px; }}
button:disabled, button[aria-disabled=true] {{ opacity: .45; cursor: default; }}
.facets {{ display: grid; grid-template-columns: max-content 1fr; gap: .3rem .9rem; padding: .7rem 0; align-items: baseline; }}
.facets .name {{ color: var(--soft); }}
.values {{ display: flex; flex-wrap: wrap; gap: .3rem; }}
.chip[aria-pressed=true] {{ background: color-mix(in srgb, var(--hue) 26%, var(--st-background-color)); border-color: var(--hue); font-weight: 600; }}
.chip .mark {{ margin-right: .3rem; }}
.chip .count {{ margin-left: .4rem; color: var(--soft); font-variant-numeric: tabular-nums; font-weight: 400; }}
.chip[aria-pressed=true] .count, tbody tr[aria-selected=true] td {{ color: var(--st-text-color); }}
.scroll {{ overflow-x: auto; border-top: 1px solid var(--line); }}
table {{ border-collapse: collapse; width: 100%; }}
th {{ text-align: left; font-weight: 600; padding: .3rem .5rem; white-space: nowrap; border-bottom: 1px solid var(--line); }}
th button {{ border: none; padding: .1rem .2rem; border-radius: 4px; }}
td {{ padding: .34rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top; }}
td.text {{ min-width: 16rem; overflow-wrap: anywhere; unicode-bidi: plaintext; }}
td.text .second {{ color: var(--soft); display: block; }}
td.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
td.id {{ color: var(--soft); white-space: nowrap; max-width: 9rem; overflow: hidden; text-overflow: ellipsis; }}
td.class {{ min-width: 5.6rem; max-width: 11rem; overflow-wrap: break-word; }}
td.text .clamp {{ display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; }}
tbody tr {{ cursor: pointer; }}
tbody tr:hover {{ background: color-mix(in srgb, var(--st-text-color) 6%, transparent); }}
tbody tr[aria-selected=true] {{ background: color-mix(in srgb, var(--hue) 16%, transparent); box-shadow: inset 3px 0 0 var(--st-primary-color); }}
mark {{ background: color-mix(in srgb, var(--hue) 34%, var(--st-background-color)); color: inherit; border-radius: 3px; }}
.wrong {{ font-weight: 700; text-decoration: underline; text-decoration-thickness: 2px; }}
.share {{ display: inline-block; width: 3.4rem; height: .5rem; margin-right: .45rem; border-radius: 2px;
  background: color-mix(in srgb, var(--st-text-color) 12%, transparent); }}
.share i {{ display: block; height: 100%; border-radius: 2px; background: var(--hue); }}
.pager {{ display: flex; gap: .8rem; align-items: center; padding-top: .6rem; }}
.where {{ color: var(--soft); font-variant-numeric: tabular-nums; }}
.none {{ padding: 1.2rem .5rem; color: var(--soft); }}
"""

_JS = """
export default function (component) {
  const { parentElement, setStateValue } = component;
  const data = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.browser');
  const pick = (kind) => root.querySelector(kind);
  const make = (tag, kind, text) => {
    const node = document.createElement(tag);
    if (kind) node.className = kind;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  // Numbered, and the last ones together: what is pressed while the server is busy arrives as one request, and none may be lost.
  const ask = (what, value) => {
    const at = Math.max(Date.now(), (root.events?.at(-1)?.at ?? 0) + 1);
    root.events = [...(root.events ?? []), { what, value, at }].slice(-20);
    setStateValue('asked', root.events);
  };
  const visible = (text) => text.replaceAll('\\u0000', '\\u2400');

  const search = pick('.search');
  if (root.dataset.search !== data.search) {
    // What is being typed is newer than what the server knows.
    if (parentElement.activeElement !== search && document.activeElement !== search || !root.dataset.drawn) search.value = data.search;
    root.dataset.search = data.search;
  }
  if (!root.dataset.drawn) search.value = data.search;
  root.dataset.drawn = '1';
  search.oninput = () => {
    clearTimeout(root.waiting);
    root.waiting = setTimeout(() => ask('search', [...search.value].slice(0, 500).join('')), 180);
  };
  search.onkeydown = (event) => {
    event.stopPropagation();
    if (event.key === 'Enter') { clearTimeout(root.waiting); ask('search', [...search.value].slice(0, 500).join('')); }
  };
  pick('.found').textContent = data.found;
  const clear = pick('.clear');
  clear.textContent = 'Clear filters';
  clear.hidden = !data.narrows;
  clear.style.display = data.narrows ? '' : 'none';
  clear.onclick = () => { clearTimeout(root.waiting); search.value = ''; search.focus({ preventScroll: true }); ask('clear', ''); };

  const chip = (facet, value) => {
    const node = make('button', 'chip');
    node.dataset.key = facet.key + ':' + value.value;
    node.setAttribute('aria-pressed', String(value.on));
    if (value.on) node.append(make('span', 'mark', '\\u2713'));
    node.append(make('span', '', visible(value.value)), make('span', 'count', value.count.toLocaleString('en')));
    node.disabled = !value.on && value.count === 0;
    node.onclick = () => ask('toggle', [facet.key, value.value]);
    return node;
  };
  const focused = (parentElement.activeElement || document.activeElement)?.dataset?.key;
  pick('.facets').replaceChildren(...data.facets.flatMap((facet) => {
    const values = make('div', 'values');
    values.setAttribute('role', 'group');
    values.setAttribute('aria-label', facet.name);
    values.append(...facet.values.map((value) => chip(facet, value)));
    return [make('span', 'name', facet.name), values];
  }));

  const head = make('tr');
  data.columns.forEach((column) => {
    const cell = make('th');
    cell.scope = 'col';
    const on = column.order === data.order;
    cell.setAttribute('aria-sort', on ? (data.descending ? 'descending' : 'ascending') : 'none');
    const button = make('button', '', column.name + (on ? (data.descending ? ' \\u25bc' : ' \\u25b2') : ''));
    button.dataset.key = 'order:' + column.order;
    button.title = column.about;
    button.onclick = () => ask('order', column.order);
    cell.append(button);
    head.append(cell);
  });
  pick('thead').replaceChildren(head);

  const marked = (node, text) => {
    const shown = visible(text);
    const low = shown.toLowerCase();
    let at = 0;
    while (at < shown.length) {
      let next = -1, length = 0;
      data.terms.forEach((term) => {
        const found = low.indexOf(term, at);
        if (found >= 0 && (next < 0 || found < next)) { next = found; length = term.length; }
      });
      if (next < 0 || low.length !== shown.length) break;
      node.append(shown.slice(at, next), make('mark', '', shown.slice(next, next + length)));
      at = next + length;
    }
    node.append(shown.slice(at));
    return node;
  };
  const predicted = (row) => {
    const node = make('td', 'class');
    const sign = row.right === null ? '' : row.right ? '\\u2713 ' : '\\u2717 ';
    node.append(make('span', row.right === false ? 'wrong' : '', sign + visible(row.predicted)));
    if (row.right !== null) node.title = row.right ? 'right' : 'wrong';
    return node;
  };
  const share = (value) => {
    const box = make('span', 'share');
    const bar = make('i');
    bar.style.width = Math.round(100 * value) + '%';
    box.append(bar);
    return box;
  };
  const draw = (row, i) => {
    const line = make('tr');
    line.dataset.key = 'row:' + row.id;
    line.tabIndex = row.chosen || (i === 0 && !data.rows.some((r) => r.chosen)) ? 0 : -1;
    line.setAttribute('aria-selected', String(row.chosen));
    const text = make('td', 'text');
    text.append(marked(make('span', 'clamp'), row.text));
    if (row.second) text.append(marked(make('span', 'second'), row.second));
    const id = make('td', 'id', visible(row.id));
    id.title = visible(row.id);
    const cells = { row: id, text, label: make('td', 'class', visible(row.label)), predicted: predicted(row) };
    cells['label probability'] = make('td', 'number', row.label_probability);
    cells.confidence = make('td', 'number');
    if (row.share !== null) cells.confidence.append(share(row.share), row.confidence);
    cells.length = make('td', 'number', String(row.length));
    data.columns.forEach((column) => line.append(cells[column.order]));
    line.onclick = () => { if (!getSelection().toString()) ask('example', row.id); };
    line.onkeydown = (event) => {
      if (event.key === 'Enter' || event.key === ' ') { ask('example', row.id); event.preventDefault(); }
      const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
      if (step && line[step]) { line.tabIndex = -1; line[step].tabIndex = 0; line[step].focus(); event.preventDefault(); }
    };
    return line;
  };
  const lines = data.rows.map(draw);
  if (!lines.length) {
    const line = make('tr');
    const cell = make('td', 'none', 'No example matches. Take a filter away, or search for less.');
    cell.colSpan = data.columns.length;
    line.append(cell);
    lines.push(line);
  }
  pick('tbody').replaceChildren(...lines);
  const pager = (kind, name, page) => {
    const button = pick(kind);
    button.textContent = name;
    // Not disabled: a button that is loses the keyboard.
    const over = page < 1 || page > data.pages;
    button.setAttribute('aria-disabled', String(over));
    button.onclick = () => { if (!over) ask('page', page); };
  };
  pager('.earlier', '\\u2190 Earlier', data.page - 1);
  pager('.later', 'Later \\u2192', data.page + 1);
  pick('.where').textContent = data.where;
  pick('.pager').style.display = data.pages > 1 ? '' : 'none';
  // The buttons were drawn anew: the one that had the keyboard has it again.
  if (focused) [...root.querySelectorAll('[data-key]')].find((node) => node.dataset.key === focused)?.focus({ preventScroll: true });
}
"""

_COMPONENT = st.components.v2.component("faithscope_browser", html=_HTML, css=_CSS, js=_JS)
_KEY = "browser"


def browser(shown: dict) -> None:
    """Draw the table. `shown`: what `pages.examples` puts together, JSON only."""
    _COMPONENT(data={"json": json.dumps(shown)}, key=_KEY, on_asked_change=lambda: None)


def asked() -> list[tuple[str, object]]:
    """What was asked of the table since the last run, oldest first: (what, value); an event is told once."""
    sent, told = (st.session_state.get(_KEY) or {}).get("asked"), st.session_state.get("browser event", 0)
    fresh = [
        event
        for event in (sent if isinstance(sent, list) else [sent])
        if isinstance(event, dict) and isinstance(event.get("at"), int | float) and event["at"] > told
    ]
    st.session_state["browser event"] = max([told, *(event["at"] for event in fresh)])
    return [(str(event.get("what")), event.get("value")) for event in fresh]
