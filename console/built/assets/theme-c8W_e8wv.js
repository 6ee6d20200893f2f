// Runs before the browser paints the page, which a module does not: the page is never painted in the wrong theme.
try {
  const theme = window.localStorage.getItem('postern.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // The browser refuses the storage, so there is no chosen theme.
}
