import { oneOf, Preference } from './preference.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** `start/theme.ts` reads the same item before the first paint. */
export const theme = new Preference<Theme>('theme', oneOf(...THEMES))

export function setTheme(chosen: Theme): void {
  theme.set(chosen === 'system' ? null : chosen)
}

function show(): void {
  const { dataset } = document.documentElement
  if (theme.value === 'system') delete dataset['theme']
  else dataset['theme'] = theme.value
}

theme.subscribe(show)
