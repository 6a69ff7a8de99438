// The page's ground is light or dark.
(theme) => {
  const shades = getComputedStyle(document.querySelector('[data-testid=stApp]'))
    .backgroundColor.match(/\d+/g)
    .slice(0, 3);
  return shades.reduce((sum, shade) => sum + Number(shade), 0) > 382 === (theme === 'light');
};
