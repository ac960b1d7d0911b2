import { useSyncExternalStore } from 'react'
import { oneOf, Preference, usePreference } from './preference.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** `start/theme.ts` reads the same item before the first paint. */
export const theme = new Preference<Theme>('theme', oneOf(...THEMES))

export function setTheme(chosen: Theme): void {
  theme.set(chosen === 'system' ? null : chosen)
}

const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

function watchSystem(listener: () => void): () => void {
  systemIsDark.addEventListener('change', listener)
  return () => systemIsDark.removeEventListener('change', listener)
}

/** The theme on the screen: the person's choice, or the system's. */
export function useShownTheme(): Exclude<Theme, 'system'> {
  const chosen = usePreference(theme)
  const isSystemDark = useSyncExternalStore(watchSystem, () => systemIsDark.matches)
  if (chosen !== 'system') return chosen
  return isSystemDark ? 'dark' : 'light'
}

function show(): void {
  const { dataset } = document.documentElement
  if (theme.value === 'system') delete dataset['theme']
  else dataset['theme'] = theme.value
}

theme.subscribe(show)
