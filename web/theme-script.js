// Sets the theme that was chosen in this browser before the first paint. Without one, the system decides.
try {
  const theme = localStorage.getItem('terse-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // The browser keeps no storage for this site.
}

// Has the words loaded beside the code that asks for them, in the language that src/text/language.ts will choose.
try {
  const files = document.currentScript.dataset
  const wanted = [localStorage.getItem('terse-language'), ...navigator.languages]
  const languages = wanted.map((tag) => String(tag).split('-', 1)[0])
  const link = document.createElement('link')
  link.rel = 'modulepreload'
  link.href = files[languages.find((language) => language in files) ?? 'en']
  document.head.append(link)
} catch {
  // They are loaded a little later.
}
