// Whether what buttons say is whole once it is long; three of them are looked at.
() =>
  [...document.querySelectorAll('[data-testid=stMain] button .stMarkdownEllipsis')].slice(0, 3).map((one) => {
    one.querySelector('p').textContent = 'Compute which of 6 measures to believe (a model with a long name)';
    return one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.closest('button').clientHeight;
  });
