// What those hear who hear the page, and when, in milliseconds.
() => {
  window.heard = [];
  const voice = document.querySelector('.faithscope-voice');
  const note = () => window.heard.push([performance.now(), voice.textContent]);
  new MutationObserver(note).observe(voice, { childList: true, characterData: true, subtree: true });
};
