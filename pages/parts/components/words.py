"""Rows of coloured words, drawn in the browser; clicks come back as the index of a word.

The markup is constant; texts travel as data and become `textContent`, never markup.
"""

import json

import streamlit as st

from core.explanation.rows import WordRow, value_text
from core.figures.palette import OPPOSES, STRONGEST, SUPPORTS, hue
from core.reports.exports import describe
from pages.parts.components.drawing import DRAWING_JS, SAVE_CSS

_HTML = (
    '<div class="words" role="region" aria-label="Attributed words"></div><div class="tip" role="tooltip" hidden></div>'
)

_CSS = (
    f"""
:host, .words {{ --for: {SUPPORTS}; --against: {OPPOSES}; font-family: var(--st-font); color: var(--st-text-color); }}
.words {{ position: relative; }}
.row {{ padding: 0.45rem 0 0.7rem; border-top: 1px solid var(--st-border-color-light, rgba(125,133,144,.25)); }}
.head {{ display: flex; gap: .6rem; align-items: baseline; font-size: .86rem; margin-bottom: .3rem; flex-wrap: wrap; }}
.swatch {{ width: .75rem; height: .75rem; border-radius: 3px; align-self: center; flex: none; }}
.name {{ font-weight: 600; }}
.detail, .legend, .rest {{ color: color-mix(in srgb, var(--st-text-color) 72%, var(--st-background-color)); }}
.text {{ line-height: 2.15; font-size: 1.06rem; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 22rem; overflow-y: auto; padding: 0 3px; }}
.word {{ all: unset; box-sizing: border-box; cursor: pointer; border-radius: 4px; padding: .08rem .16rem; border-bottom: 3px solid transparent;
        color: var(--st-text-color); overflow-wrap: anywhere; unicode-bidi: isolate; }}
.word.own {{ unicode-bidi: plaintext; }}
.rest {{ unicode-bidi: isolate; direction: ltr; margin: 0 .35rem; }}
.word.for {{ border-bottom-color: var(--for); }}
.word.against {{ border-bottom: 3px dotted var(--against); }}
.word.masked {{ text-decoration: line-through; opacity: .65; }}
/* Room for the lines over words, away from those under the words above. */
.text.roomy {{ line-height: 2.45; }}
.roomy .word {{ line-height: 1.65; }}
.over {{ padding: 0 .2rem; }}
.word.evidence, .over {{ border-top: 2px solid var(--st-text-color); border-top-left-radius: 0; border-top-right-radius: 0; }}
.word:hover, .word.same {{ outline: 2px solid color-mix(in srgb, var(--st-text-color) 45%, transparent); }}
.word.chosen {{ outline: 2px solid var(--st-primary-color); }}
.word:focus-visible {{ outline: 3px solid var(--st-primary-color); outline-offset: 1px; }}
.place {{ font-size: .68rem; vertical-align: super; margin-left: .1rem; font-weight: 600; }}
.legend {{ display: flex; gap: .7rem; align-items: center; font-size: .84rem; padding-top: .5rem; flex-wrap: wrap;
          border-top: 1px solid var(--st-border-color-light, rgba(125,133,144,.25)); }}
.bar {{ width: 9rem; height: .8rem; border-radius: 3px; }}
.key {{ border-bottom: 3px solid var(--for); padding: 0 .2rem; }}
.key.against {{ border-bottom: 3px dotted var(--against); }}
.tip {{ position: fixed; z-index: 1000; pointer-events: none; background: var(--st-text-color); color: var(--st-background-color);
       font-family: var(--st-font); font-size: .82rem; padding: .3rem .5rem; border-radius: 5px; max-width: 22rem; overflow-wrap: anywhere; }}
.tip[hidden] {{ display: none; }}
"""
    + SAVE_CSS
)

_JS = (
    DRAWING_JS
    + """
export default function (component) {
  const { parentElement, setStateValue } = component;
  const data = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.words');
  const tip = parentElement.querySelector('.tip');
  const make = (tag, kind, text) => {
    const node = document.createElement(tag);
    if (kind) node.className = kind;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const shade = (value) => {
    const share = Math.round(Math.min(1, Math.abs(value)) * data.strongest * 1000) / 10;
    return `color-mix(in srgb, var(--${value < 0 ? 'against' : 'for'}) ${share}%, var(--st-background-color))`;
  };
  const show = (event) => {
    tip.textContent = brief(event.currentTarget.getAttribute('aria-label'));
    tip.hidden = false;
    const box = event.currentTarget.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(box.left, window.innerWidth - 360)) + 'px';
    tip.style.top = (box.top > 60 ? box.top - tip.offsetHeight - 6 : box.bottom + 6) + 'px';
    mark(event.currentTarget.dataset.i, true);
  };
  const hide = (event) => { tip.hidden = true; mark(event.currentTarget.dataset.i, false); };
  const mark = (i, on) => root.querySelectorAll(`[data-i="${i}"]`).forEach((n) => n.classList.toggle('same', on));
  const drawWord = (row, i) => {
    const piece = data.pieces[i];
    const value = row.shades[i];
    const node = make('button', 'word', visible(piece.text));
    node.dataset.i = i;
    // Letters know their direction; a bracket takes that of its text.
    if (/\\p{L}/u.test(piece.text)) node.classList.add('own');
    node.tabIndex = i === 0 ? 0 : -1;
    if (piece.evidence) node.classList.add('evidence');
    node.setAttribute('aria-label', visible(piece.text) + (piece.evidence ? ', evidence' : '') + (piece.masked ? ', masked in the text' : '')
      + ', ' + row.name + ' ' + row.values[i] + (piece.masked ? '' : ' (' + row.places[i] + ' of ' + data.free + ')'));
    node.setAttribute('aria-pressed', String(data.chosen === i));
    if (Math.abs(value) > 0.02) {
      node.style.background = shade(value);
      node.dataset.shape = 'shade';
      if (row.kind === 'signed') node.classList.add(value < 0 ? 'against' : 'for');
    }
    if (row.kind === 'rank') node.appendChild(make('span', 'place', String(row.places[i])));
    if (piece.masked) node.classList.add('masked');
    if (data.chosen === i) node.classList.add('chosen');
    node.onmouseenter = node.onfocus = show;
    node.onmouseleave = node.onblur = hide;
    node.onkeydown = walkWords;
    node.onclick = () => setStateValue('word', data.chosen === i ? null : data.text + ':' + i);
    return node;
  };
  const drawRow = (row) => {
    const box = make('div', 'row');
    const head = make('div', 'head');
    const swatch = make('span', 'swatch');
    swatch.style.background = row.hue;
    head.append(swatch, make('span', 'name', row.name), make('span', 'detail', row.detail));
    head.title = row.definition;
    const text = make('div', over.length ? 'text roomy' : 'text');
    text.dir = 'auto';
    data.pieces.forEach((piece, i) => {
      if (piece.gap) text.append(visible(piece.gap));
      text.append(drawWord(row, i));
    });
    if (data.rest) text.append(make('span', 'rest', data.rest));
    box.append(head, text);
    return box;
  };
  const over = data.pieces.some((piece) => piece.evidence) ? [make('span', 'over', 'overlined: the evidence')] : [];
  const legend = make('div', 'legend');
  const bar = make('span', 'bar');
  const low = data.signed ? shade(-1) : shade(0);
  bar.style.background = `linear-gradient(to right, ${low}, var(--st-background-color) ${data.signed ? 50 : 0}%, ${shade(1)})`;
  bar.dataset.shape = 'scale';
  if (data.signed) legend.append(make('span', 'key against', data.against));
  legend.append(bar, make('span', data.signed ? 'key' : '', data.for), make('span', '', data.legend), ...over,
    make('span', 'hint', data.hint));
  // What a picture needs of the bar is asked when it stands on the page.
  const stops = () => (data.signed ? [shade(-1), 'transparent', shade(1)] : ['transparent', shade(1)]).map((colour) => {
    bar.style.color = colour;
    return getComputedStyle(bar).color;
  });
  const picture = () => {
    bar.dataset.stops = JSON.stringify(stops());
    return pictureOf(root, '.save, .hint', data.about, data.title);
  };
  const waiting = { name: '', detail: '', hue: 'transparent', definition: '', kind: 'rank', shades: data.pieces.map(() => 0),
    places: data.pieces.map(() => ''), values: data.pieces.map(() => '') };
  root.replaceChildren(...(data.rows.length ? data.rows.map(drawRow).concat(legend) : [drawRow(waiting)]));
  if (!data.rows.length && over.length) {
    legend.replaceChildren(...over);
    root.append(legend);
  }
  if (data.about && data.rows.length) {
    root.querySelector('.head').append(saveButtons('the coloured words', data.name, () => svgOf(picture()), () => pngOf(picture())));
  }
  tip.hidden = true;
}
"""
)

_COMPONENT = st.components.v2.component("faithscope_words", html=_HTML, css=_CSS, js=_JS)


def words(
    rows: list[WordRow],
    pieces: list[dict],
    class_name: str,
    definitions: dict[str, str],
    *,
    rest: str = "",
    key: str = "words",
    name: str = "words",
    about: str = "",
    unit: str = "word",
) -> int | None:
    """Draw a row of coloured words per measure, with a legend; return the clicked word's index.

    Args:
        rows: what to show, one a measure.
        pieces: the text's features and the gaps before them; those with "evidence" are overlined.
        class_name: the explained class, for the legend.
        definitions: a line per measure, shown on hover over its name.
        rest: what stands after the last word (what the model does not read).
        name: of the files that the two buttons save, without an ending; see `core.wording.safe_name`.
        about: the line under a saved picture, see `core.reports.exports.picture_line`; without one there are no
            buttons.
        unit: what a piece is, see `core.network.features.UNITS`.
    """
    # A click belongs to a text: after the next one it marks nothing.
    text = f"{hash(tuple(piece['text'] for piece in pieces)):x}"
    chosen = _clicked((st.session_state.get(key) or {}).get("word"), text, len(pieces))
    data = {
        "pieces": pieces,
        "free": sum(not piece["masked"] for piece in pieces),
        "text": text,
        "rest": rest,
        "chosen": chosen,
        "strongest": STRONGEST,
        "signed": any(row.kind == "signed" for row in rows),
        "for": f"supports “{class_name}”" if any(row.kind == "signed" for row in rows) else "matters most",
        "against": f"opposes “{class_name}”",
        "legend": "Each row’s colour is scaled to its own largest value.",
        "hint": f"Point at a {unit} for the number, click it to compare.",
        "name": name,
        "about": about,
        "title": f"{unit.capitalize()}s coloured by {', '.join(row.measure for row in rows)}",
        "rows": [_drawn(row, definitions) for row in rows],
    }
    # As one string: Streamlit asks pandas about lists and numbers, and importing pandas takes longer than all the rest.
    result = _COMPONENT(data={"json": json.dumps(data)}, key=key, on_word_change=lambda: None)
    return _clicked(result.word, text, len(pieces))


def _clicked(state, text: str, count: int) -> int | None:
    owner, _, place = str(state).partition(":")
    return int(place) if owner == text and place.isdigit() and int(place) < count else None


def _drawn(row: WordRow, definitions: dict[str, str]) -> dict:
    return {
        "name": row.measure,
        "detail": describe(row),
        "kind": row.kind,
        "hue": hue(row.measure),
        "definition": definitions.get(row.measure, ""),
        "shades": row.shades.tolist(),
        "places": [int(place) or "—" for place in row.places],
        "values": [value_text(row, i) for i in range(len(row.scores))],
    }
