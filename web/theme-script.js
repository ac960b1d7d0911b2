// Sets the theme that was chosen in this browser before the first paint. Without one, the system decides.
try {
  const theme = localStorage.getItem('terse-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // The browser keeps no storage for this site.
}
