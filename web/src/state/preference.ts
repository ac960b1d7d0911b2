import { useSyncExternalStore } from 'react'

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
    this.#value = parse(this.#read())
    addEventListener('storage', ({ key }) => {
      if (key === this.#name || key === null) this.#change(parse(this.#read()))
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

  #read(): string | null {
    try {
      return localStorage.getItem(this.#name)
    } catch {
      return null
    }
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
