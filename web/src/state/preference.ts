import { useSyncExternalStore } from 'react'
import { stored } from './stored.ts'

/**
 * A choice that is kept in this browser and followed by its other tabs. Where the browser keeps no
 * storage, it lasts as long as the page.
 */
export class Preference<T> {
  readonly #name: string
  readonly #parse: (text: string | null) => T
  readonly #listeners = new Set<() => void>()
  #value: T

  /** @param parse returns the default for null and for text that it does not know */
  constructor(name: string, parse: (text: string | null) => T) {
    this.#name = `terse-${name}`
    this.#parse = parse
    this.#value = parse(stored(name))
    addEventListener('storage', ({ key }) => {
      if (key === this.#name || key === null) this.#change(parse(stored(name)))
    })
  }

  get value(): T {
    return this.#value
  }

  /** @param text what `parse` reads; null for the default */
  set(text: string | null): void {
    try {
      if (text === null) localStorage.removeItem(this.#name)
      else localStorage.setItem(this.#name, text)
    } catch {
      // Storage is full or off: the choice lasts as long as the page.
    }
    this.#change(this.#parse(text))
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #change(value: T): void {
    this.#value = value
    for (const listener of this.#listeners) listener()
  }
}

export function usePreference<T>(preference: Preference<T>): T {
  return useSyncExternalStore(preference.subscribe, () => preference.value)
}

/** Reads one of a few words; the first is the default. */
export function oneOf<const T extends readonly [string, ...string[]]>(...words: T) {
  return (text: string | null): T[number] => words.find((word) => word === text) ?? words[0]
}

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** `start/start.ts` reads the same item before the first paint. */
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

type Hosts = Readonly<Record<string, string>>

/** The domain of the last link that was made, by person and workspace. */
const lastDomains = new Preference('last-domains', parseHosts)

export function lastDomainOf(personId: string, workspaceId: string): string | undefined {
  return lastDomains.value[`${personId} ${workspaceId}`]
}

export function rememberDomain(personId: string, workspaceId: string, host: string): void {
  lastDomains.set(JSON.stringify({ ...lastDomains.value, [`${personId} ${workspaceId}`]: host }))
}

function parseHosts(text: string | null): Hosts {
  try {
    const hosts: Record<string, unknown> = Object(JSON.parse(text ?? '{}'))
    return Object.fromEntries(
      Object.entries(hosts).flatMap(([of, host]) => (typeof host === 'string' ? [[of, host]] : [])),
    )
  } catch {
    return {}
  }
}

/** How the last person signed in with this browser: the way that is offered first. */
export const lastSignIn = new Preference('last-sign-in', oneOf('password', 'passkey', 'oidc'))
