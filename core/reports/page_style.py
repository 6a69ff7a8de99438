"""How a page that is saved looks: light, dark and on paper."""

from core.figures.palette import LIMIT, OPPOSES, RANDOM, STRONGEST, SUPPORTS

_LIGHT = "--ground: #ffffff; --raised: #f6f7f9; --ink: #23262f; --quiet: #565b68; --line: #dfe2e8;"
_DARK = "--ground: #0e1117; --raised: #171b24; --ink: #f3f4f6; --quiet: #a9b0bd; --line: #2c323d;"


def _clear(colour: str, share: float) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


STYLE = f"""
:root {{ color-scheme: light dark; {_LIGHT} --for: {SUPPORTS}; --against: {OPPOSES}; }}
@media (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
* {{ box-sizing: border-box; -webkit-print-color-adjust: exact; print-color-adjust: exact; }}
body {{ margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }}
main {{ max-width: 62rem; margin: 0 auto; padding: 2.2rem 1.4rem 3rem; }}
h1 {{ font-size: 1.75rem; line-height: 1.25; margin: .1rem 0 .6rem; letter-spacing: -.01em; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.08rem; margin: 0 0 .7rem; }}
p {{ margin: 0 0 .7rem; }}
.eyebrow {{ color: var(--quiet); font-size: .84rem; margin: 0; }}
.answer {{ font-size: 1.14rem; overflow-wrap: anywhere; }}
.quiet {{ color: var(--quiet); font-size: .86rem; font-weight: 400; }}
section, footer {{ margin-top: 1.9rem; padding-top: 1.3rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }}
.row {{ padding: .2rem 0 .5rem; break-inside: avoid; }}
.row + .row {{ border-top: 1px solid var(--line); padding-top: .7rem; }}
.head {{ display: flex; flex-wrap: wrap; gap: .55rem; align-items: baseline; font-size: .9rem; margin-bottom: .2rem; }}
.swatch {{ width: .75rem; height: .75rem; border-radius: 3px; align-self: center; }}
.text {{ font-size: 1.09rem; line-height: 2.15; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }}
.word {{ border-radius: 4px; padding: .08rem .16rem .06rem; border-bottom: 3px solid transparent; -webkit-box-decoration-break: clone; box-decoration-break: clone; }}
.alone {{ display: inline-block; line-height: 1.4; }}
.word:hover {{ outline: 2px solid var(--quiet); }}
.for {{ border-bottom: 3px solid var(--for); }}
.against {{ border-bottom: 3px dotted var(--against); }}
.evidence {{ border-top: 2px solid var(--ink); border-top-left-radius: 0; border-top-right-radius: 0; }}
.roomy {{ line-height: 2.6; }}
.masked {{ text-decoration: line-through; opacity: .75; }}
sup {{ font-size: .66em; font-weight: 600; line-height: 0; margin-left: .1rem; }}
.legend {{ display: flex; flex-wrap: wrap; gap: .4rem .7rem; align-items: center; font-size: .88rem; margin: .7rem 0 .2rem; }}
.key {{ padding: 0 .2rem; }}
.scale {{ width: 8rem; height: .8rem; border-radius: 3px; background: linear-gradient(to right, {_clear(SUPPORTS, 0)}, {_clear(SUPPORTS, STRONGEST)}); }}
.scale.both {{ background: linear-gradient(to right, {_clear(OPPOSES, STRONGEST)}, {_clear(OPPOSES, 0)} 50%, {_clear(SUPPORTS, 0)} 50%, {_clear(SUPPORTS, STRONGEST)}); }}
.notes {{ background: var(--raised); border: 1px solid var(--line); border-radius: 8px; margin: 1rem 0 0; padding: .7rem 1rem .7rem 2rem; font-size: .93rem; }}
table {{ border-collapse: collapse; font-size: .92rem; }}
th, td {{ padding: .32rem .7rem; text-align: left; vertical-align: top; font-weight: 400; }}
thead th {{ font-weight: 600; border-bottom: 1px solid var(--line); vertical-align: bottom; }}
tbody tr + tr > * {{ border-top: 1px solid var(--line); }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.scroll {{ overflow-x: auto; margin-bottom: .4rem; }}
.classes th:first-child {{ padding-left: 0; overflow-wrap: anywhere; }}
.room {{ width: 14rem; vertical-align: middle; }}
.bar {{ display: block; height: .7rem; min-width: 2px; border-radius: 3px; background: var(--quiet); }}
.mark {{ font-size: .76rem; color: var(--quiet); border: 1px solid var(--line); border-radius: 5px; padding: 0 .35rem; margin-left: .3rem; }}
.pair {{ display: flex; flex-wrap: wrap; gap: 1.2rem 2rem; }}
.pair > * {{ max-width: 100%; flex: 0 1 auto; }}
.pair .quiet {{ max-width: 27rem; margin-top: .5rem; }}
.square caption {{ text-align: left; font-weight: 600; padding-bottom: .4rem; }}
.square td, .square thead th {{ text-align: center; border: 2px solid var(--ground); }}
.square thead th, .square tbody th {{ font-weight: 400; border: 0; }}
.square tbody th {{ text-align: right; white-space: nowrap; padding-left: 0; vertical-align: middle; }}
.square td {{ min-width: 4rem; padding: .5rem .5rem; font-variant-numeric: tabular-nums; }}
.values th[scope=row] {{ white-space: pre-wrap; font-weight: 500; }}
.values thead th:nth-child(n+3) {{ text-align: right; }}
.values thead th:first-child, .values td:first-child {{ color: var(--quiet); padding-left: 0; }}
.values tbody tr:hover > * {{ background: var(--raised); }}
small {{ display: inline-block; min-width: 1.6rem; color: var(--quiet); font-size: .76rem; }}
.wide th[scope=row] {{ white-space: nowrap; padding-left: 0; font-weight: 500; }}
.wide th, .wide td, .square th {{ overflow-wrap: break-word; }}
.wide thead th:first-child {{ padding-left: 0; }}
footer {{ font-size: .88rem; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.4rem; margin: 0; }}
dt {{ color: var(--quiet); }}
dd {{ margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }}
@media (max-width: 36rem) {{ dl {{ display: block; }} dd {{ margin-bottom: .4rem; }} .room {{ width: 6rem; }} main {{ padding: 1.2rem .9rem 2rem; }} }}
@media print {{
:root {{ color-scheme: light; {_LIGHT} }}
body {{ font-size: 10.5pt; }}
main {{ max-width: none; padding: 0; }}
h2 {{ break-after: avoid; }}
tr, .pair > * {{ break-inside: avoid; }}
.scroll {{ overflow: visible; }}
}}
"""

# What a page with gauges and orders needs besides.
GAUGE_STYLE = f"""
h3 {{ font-size: 1rem; margin: 1.3rem 0 .5rem; overflow-wrap: anywhere; }}
.quote {{ border-left: 3px solid var(--line); padding-left: .9rem; margin: 0 0 .9rem; }}
.quote .text {{ line-height: 1.6; }}
.line {{ display: grid; grid-template-columns: 10.5rem minmax(0, 1fr) 7.8rem; column-gap: .9rem; break-inside: avoid; }}
.lane {{ position: relative; min-height: 4.3rem; }}
.who {{ display: flex; gap: .5rem; align-items: center; }}
.who .swatch {{ flex: none; align-self: auto; }}
.who .mark {{ display: block; width: max-content; margin: .1rem 0 0; }}
.normal {{ display: flex; flex-direction: column; justify-content: center; gap: .35rem; font-variant-numeric: tabular-nums; }}
.ends .lane {{ min-height: 2.9rem; font-size: .88rem; }}
.ends .normal {{ justify-content: flex-end; }}
.axis .lane {{ min-height: 1.5rem; border-top: 1px solid var(--quiet); }}
.name .lane {{ min-height: 0; text-align: center; font-size: .88rem; color: var(--quiet); overflow-wrap: anywhere; }}
.band {{ position: absolute; top: 0; bottom: 0; background: rgba(125,133,144,.15); border: solid {LIMIT}; border-width: 0 3px; }}
.edge {{ position: absolute; top: 1.45rem; bottom: 0; padding: 0 .45rem; border-left: 3px solid {LIMIT}; white-space: nowrap; }}
.edge.first {{ top: 0; }}
.edge.back {{ border-left: 0; border-right: 3px solid {LIMIT}; }}
.tip {{ width: 1.05rem; height: 1.05rem; overflow: visible; }}
.tip path {{ fill: none; stroke: currentColor; stroke-width: 2.4; stroke-linejoin: round; }}
.tip.full path, .tip.middle path {{ fill: currentColor; }}
.lane .tip {{ position: absolute; top: 50%; transform: translate(-50%, -50%); }}
.lane .tip.up {{ top: 38%; }}
.lane .tip.down {{ top: 62%; }}
.value {{ position: absolute; transform: translateX(-50%);
  font-size: .84rem; line-height: 1.2; white-space: nowrap; font-variant-numeric: tabular-nums;
  text-shadow: 0 0 3px var(--ground), 0 0 3px var(--ground), 0 0 5px var(--ground); }}
.value.up {{ top: .1rem; }}
.value.down {{ bottom: .1rem; }}
.reach {{ position: absolute; top: 50%; height: .5rem; margin-top: -.25rem; border-radius: 3px; background: {RANDOM}; opacity: .55; }}
.tick {{ position: absolute; white-space: nowrap; top: .15rem; transform: translateX(-50%); font-size: .8rem; color: var(--quiet); font-variant-numeric: tabular-nums; }}
.gauge + .legend .key {{ display: inline-flex; align-items: center; gap: .4rem; }}
.sample {{ width: 1.6rem; height: .95rem; background: rgba(125,133,144,.15); border: solid {LIMIT}; border-width: 0 3px; }}
.scores caption {{ text-align: left; font-weight: 600; padding-bottom: .4rem; }}
.scores th:first-child {{ padding-left: 0; }}
.scores tbody th {{ font-weight: 500; }}
.scores th[scope=row], .scores td:nth-child(2) {{ min-width: 7rem; max-width: 18rem; }}
.scores td:last-child {{ min-width: 11rem; }}
.scores .number {{ min-width: 0; overflow-wrap: normal; }}
.scores thead th {{ overflow-wrap: normal; }}
.scores .number {{ text-align: right; }}
.order {{ display: flex; flex-wrap: wrap; gap: .35rem; list-style: none; margin: .3rem 0 .4rem; padding: 0; }}
.order li {{ display: flex; flex-direction: column; align-items: center; background: var(--raised); border: 1px solid var(--line); border-radius: 6px;
  padding: .15rem .5rem; max-width: 100%; overflow-wrap: anywhere; break-inside: avoid; }}
.order small {{ min-width: 0; margin-right: .35rem; }}
.order .late {{ border-style: dashed; border-color: var(--quiet); }}
.meanings dt {{ color: var(--ink); font-weight: 600; }}
@media (max-width: 36rem) {{ .line {{ grid-template-columns: minmax(0, 1fr) 6.2rem; }} .lane {{ margin-left: 1.3rem; }} .normal {{ font-size: .86rem; }}
  .who {{ grid-column: 1 / -1; }} }}
"""
