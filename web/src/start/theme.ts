/** Shows the theme that was chosen in this browser. Without one, the system decides. `state/theme.ts` writes it. */
export function showTheme(): void {
  const theme = stored('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
}

/** What `Preference` keeps; null where the browser keeps no storage for this site. */
export function stored(name: string): string | null {
  try {
    return localStorage.getItem(`terse-${name}`)
  } catch {
    return null
  }
}
