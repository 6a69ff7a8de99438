"""How the stepper looks: its style, constant, for `pages.parts.components.player`."""

from core.figures.palette import OPPOSES, OUT_OF_DISTRIBUTION, SUPPORTS
from pages.parts.components.drawing import SAVE_CSS

PLAYER_CSS = (
    f"""
.player, .tip {{ --for: {SUPPORTS}; --against: {OPPOSES}; --warn: {OUT_OF_DISTRIBUTION}; --warn-ink: color-mix(in srgb, var(--warn) 55%, var(--st-text-color));
  --line: var(--st-border-color-light, rgba(125,133,144,.25)); --soft: color-mix(in srgb, var(--st-text-color) 72%, var(--st-background-color));
  --mid: color-mix(in srgb, var(--st-text-color) 25%, var(--st-background-color)); --quiet: color-mix(in srgb, var(--st-text-color) 14%, var(--st-background-color));
  font-family: var(--st-font); color: var(--st-text-color); font-size: .9rem }}
.bar {{ display: flex; gap: .3rem .9rem; align-items: center; flex-wrap: wrap; padding-bottom: .35rem; }}
.buttons {{ display: flex; gap: .3rem; align-items: center; }}
.buttons button {{ all: unset; box-sizing: border-box; cursor: pointer; display: grid; place-items: center; min-width: 2rem; height: 2rem; border-radius: 999px;
  padding: 0 .5rem; border: 1px solid var(--st-border-color, rgba(125,133,144,.5)) }} .buttons button:hover {{ border-color: var(--st-primary-color); }}
.buttons button.play {{ background: var(--st-primary-color); border-color: var(--st-primary-color); color: #fff; min-width: 2.6rem; }}
.buttons button[aria-disabled=true] {{ opacity: .4; cursor: default; }} .buttons svg {{ width: .95rem; height: .95rem; fill: currentColor; display: block; }}
button:focus-visible, .word:focus-visible, .slider:focus-visible {{ outline: 3px solid var(--st-primary-color) !important; outline-offset: 1px; }}
.step {{ font-weight: 600; font-variant-numeric: tabular-nums; }} .step + .soft {{ font-size: .82rem; }}
.soft, .detail, .cap, .gate, .rest, .legend, .key {{ color: var(--soft); }}
.timeline {{ display: grid; grid-template-columns: minmax(0, 1fr); column-gap: .6rem; align-items: start; }}
.timeline.named {{ grid-template-columns: fit-content(9rem) minmax(0, 1fr); }}
.timeline .of {{ font-size: .8rem; line-height: 1rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }}
.slider {{ appearance: none; box-sizing: border-box; display: block; height: 1.5rem; padding: 0; background: none; border-radius: 6px; cursor: pointer;
  width: calc(100% - 100% / var(--count) + 16px); margin: 0 0 0 calc(50% / var(--count) - 8px) }}
.slider::-webkit-slider-runnable-track {{ height: 4px; border-radius: 2px; background: var(--mid); }}
.slider::-moz-range-track {{ height: 4px; border-radius: 2px; background: var(--mid); }}
.slider::-webkit-slider-thumb {{ appearance: none; width: 16px; height: 16px; margin-top: -6px; border-radius: 50%; background: var(--st-primary-color);
  border: none }} .slider::-moz-range-thumb {{ width: 16px; height: 16px; border-radius: 50%; background: var(--st-primary-color); border: none; }}
.track {{ display: flex; margin-bottom: .15rem; }}
.cell {{ all: unset; box-sizing: border-box; cursor: pointer; flex: 1 1 0; min-width: 0; padding: 0 1px; text-align: center; }}
.cell i, .layers i {{ display: block; box-sizing: border-box; border-radius: 3px; font-style: normal; font-weight: 700; overflow: hidden; color: #fff; }}
.cell i {{ height: 1rem; line-height: calc(1rem - 2px); font-size: .68rem;
  border: 1px solid color-mix(in srgb, var(--st-text-color) 40%, var(--st-background-color)) }}
.cell b {{ display: block; height: .7rem; line-height: .7rem; font-size: .72rem; font-weight: 400; }} .kept i {{ background: var(--mid); border-color: transparent; }}
.free i {{ height: .4rem; margin: .3rem 0; background: var(--mid); border-color: transparent; }} .rejected i {{ background: var(--warn); border-color: var(--warn); }}
.beyond i {{ border-color: var(--warn);
  background: repeating-linear-gradient(135deg, color-mix(in srgb, var(--warn) 60%, var(--st-background-color)) 0 2px, var(--st-background-color) 2px 6px) }}
.cell:hover i {{ box-shadow: 0 0 0 1px var(--soft); }} .cell.here i {{ outline: 2px solid var(--st-text-color); outline-offset: 1px; }}
.key {{ display: flex; gap: .2rem .9rem; flex-wrap: wrap; font-size: .78rem; padding-top: .1rem; }}
.key .cell {{ display: flex; gap: .35rem; align-items: center; flex: none; cursor: default; }} .key .cell i {{ width: 1.1rem; flex: none; box-shadow: none; }}
.panes {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); column-gap: 1.6rem; padding-top: .5rem; }}
.pane {{ display: grid; grid-template-columns: minmax(0, 1fr); grid-template-rows: subgrid; grid-row: span 4; row-gap: .4rem; align-content: start;
  padding: .5rem 0 .8rem; border-top: 1px solid var(--line) }} .head {{ display: flex; gap: .6rem; align-items: flex-start; font-size: .86rem; }}
.head .save {{ align-self: flex-start; flex: none; }} .names {{ display: flex; gap: .1rem .6rem; align-items: baseline; flex-wrap: wrap; }}
.swatch {{ width: .75rem; height: .75rem; border-radius: 3px; align-self: center; flex: none; }} .name {{ font-weight: 600; }}
.text {{ line-height: 2.05; font-size: 1.04rem; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 18rem; overflow-y: auto; padding: 0 3px; }}
.word {{ all: unset; box-sizing: border-box; border-radius: 4px; padding: .08rem .16rem; border-bottom: 3px solid transparent; color: var(--st-text-color);
  overflow-wrap: anywhere; unicode-bidi: isolate; -webkit-box-decoration-break: clone; box-decoration-break: clone }}
button.word {{ cursor: pointer; line-height: 1.45; }} button.word[aria-disabled=true] {{ cursor: not-allowed; }}
.word.own {{ unicode-bidi: plaintext; }} .word.for {{ border-bottom-color: var(--for); }} .word.against {{ border-bottom: 3px dotted var(--against); }}
.word.masked {{ text-decoration: line-through; opacity: .5; }} .word.fresh {{ outline: 1px dashed var(--st-text-color); outline-offset: -1px; }}
.text.roomy {{ line-height: 2.5; }} .word.evidence {{ border-top: 2px solid var(--st-text-color); border-top-left-radius: 0; border-top-right-radius: 0; }}
.word.same {{ outline: 2px solid color-mix(in srgb, var(--st-text-color) 45%, transparent); }}
.place {{ font-size: .68rem; vertical-align: super; margin-left: .1rem; font-weight: 600; }} .rest {{ unicode-bidi: isolate; direction: ltr; margin: 0 .35rem; }}
.legend {{ display: flex; gap: .2rem .8rem; flex-wrap: wrap; align-items: baseline; font-size: .78rem; padding-top: .2rem; }} .legend .word {{ opacity: 1; }}
.numbers {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: .7rem 1.6rem; align-content: start;
  font-variant-numeric: tabular-nums }} .cap {{ display: flex; justify-content: space-between; gap: .6rem; font-size: .8rem; padding-bottom: .15rem; }}
.said {{ color: var(--st-text-color); font-weight: 600; }}
.class {{ display: grid; grid-template-columns: minmax(0, 30%) minmax(2rem, 1fr) max-content 5.3rem; gap: .5rem; align-items: center; line-height: 1.55; }}
.class .of {{ overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }} .class .of span {{ border-bottom: 3px solid transparent; }}
.class.explained .of span {{ border-bottom-color: var(--for); }} .class.predicted {{ font-weight: 700; }} .class .value {{ min-width: 2.6rem; text-align: right; }}
.class .sign {{ font-size: .8rem; }} .share {{ height: .6rem; border-radius: 2px; background: var(--quiet); }}
.share i {{ display: block; height: 100%; border-radius: 2px; background: color-mix(in srgb, var(--st-text-color) 55%, var(--st-background-color)); }}
.explained .share i {{ background: var(--for); }} .more {{ font-size: .8rem; color: var(--soft); }}
.verdict.out, .beyond-line {{ color: var(--warn-ink); font-weight: 600; }} .scale {{ position: relative; height: 2.2rem; margin: .25rem 8px 0; }}
.scale > * {{ position: absolute; }} .scale .ground, .scale .low {{ left: 0; top: .35rem; height: .5rem; border-radius: 2px; }}
.scale .ground {{ right: 0; background: var(--quiet); }} .scale .low {{ background: color-mix(in srgb, var(--warn) 38%, var(--st-background-color)); }}
.scale .limit {{ top: .1rem; width: 2px; height: 1rem; margin-left: -1px; background: var(--warn-ink); }}
.scale .dot {{ top: .2rem; width: .8rem; height: .8rem; margin-left: -.4rem; border-radius: 50%; background: var(--st-text-color); color: #fff; font-size: .62rem;
  line-height: .8rem; text-align: center; font-weight: 700; box-shadow: 0 0 0 2px var(--st-background-color) }} .scale .dot.out {{ background: var(--warn); }}
.scale .tick {{ top: 1.15rem; width: 3rem; margin-left: -1.5rem; text-align: center; font-size: .74rem; color: var(--soft); }}
.scale .tick.alpha {{ color: var(--warn-ink); font-weight: 600; }} .scale .tick.low-end {{ margin-left: -8px; text-align: left; }}
.scale .tick.high-end {{ margin-left: calc(-3rem + 8px); text-align: right; }} .layers {{ display: flex; gap: 2px; padding-top: .2rem; }}
.layers i {{ flex: 1 1 0; min-width: 0; height: 1.1rem; line-height: 1.1rem; font-size: .68rem; text-align: center; }} .gate, .beyond-line {{ font-size: .84rem; }}
.pending .text, .pending .classes, .pending .chance {{ opacity: .45; }} .by-hand .pane {{ grid-row: span 3; }}
.tip {{ position: fixed; z-index: 1000; pointer-events: none; background: var(--st-text-color); color: var(--st-background-color); font-size: .82rem;
  padding: .3rem .5rem; border-radius: 5px; max-width: 22rem; overflow-wrap: anywhere }} [hidden] {{ display: none !important; }}
@media (prefers-reduced-motion: no-preference) {{ .share i {{ transition: width .25s; }} .scale .dot {{ transition: left .25s; }} }}
"""
    + SAVE_CSS
)
