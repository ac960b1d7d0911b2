import { useEffect, useState, useSyncExternalStore } from 'react'

/** A value outside React whose readers are rendered again when it changes. */
export class Observable<T> {
  readonly #listeners = new Set<() => void>()
  #value: T

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of this.#listeners) listener()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export function useObservable<T>(observable: Observable<T>): T {
  return useSyncExternalStore(observable.subscribe, () => observable.value)
}

const PAUSE_MS = 300

/** The value, once it has not changed for as long as a pause in typing. */
export function useSettled<T extends string>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
