// Somebody goes to another page, which writes into the address so many milliseconds apart before it has its name there.
async (apart) => {
  let clock = 1e9;
  performance.now = () => (clock += apart);
  const did = () => window.dispatchEvent(new Event('faithscope-press'));
  const write = (url) => history.pushState({}, '', url);
  did();
  clock += 1e4;
  write('?left');
  const { length } = history;
  did();
  write('?gone');
  write('?gone-to');
  write('recursive_masking?gone-to');
  const gone = [history.length - length, location.pathname + location.search];
  history.back();
  await new Promise((done) => window.addEventListener('popstate', done, { once: true }));
  return [...gone, location.pathname + location.search];
};
