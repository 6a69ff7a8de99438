// How far work is, for those who hear a page: when it has begun, now and then while it goes on, and when it has ended.
// Progress bars are drawn several times a second, which nobody could listen to.

const SHOWN = '[data-testid="stProgress"], [class*="st-key-elsewhere-"] [data-testid="stCaptionContainer"]';
// Milliseconds from one look to the next, and the fewest from one sentence to the next while work goes on.
const [LOOKS, APART] = [1000, 10000];
const HIDDEN = 'position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap';

export const tellProgress = () => {
  const voice = document.createElement('div');
  voice.className = 'faithscope-voice';
  voice.style.cssText = HIDDEN;
  voice.setAttribute('role', 'status');
  voice.setAttribute('aria-live', 'polite');
  document.body.append(voice);
  // Looks in a row that found work, or found none after it: what lasts for one look is not worth a sentence, and a page
  // that is drawn anew has no bar for a moment.
  let [found, none, said, at] = [0, 0, '', -APART];
  const say = (text) => {
    [said, at] = [text, performance.now()];
    voice.textContent = text;
  };
  const look = () => {
    const texts = [...document.querySelectorAll(SHOWN)].map((node) => node.textContent.trim()).filter(Boolean);
    const now = texts.join('; ');
    // A page that is being drawn has no bar yet, which says nothing of the work.
    if (!now && document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'running') return;
    [found, none] = now ? [found + 1, 0] : [none ? 0 : found, none + 1];
    if (now && found > 1 && now !== said && performance.now() - at >= APART) say(now);
    if (none === 2 && said) {
      say('Nothing is being computed any more.');
      [said, at] = ['', -APART];
    }
  };
  setInterval(look, LOOKS);
};
