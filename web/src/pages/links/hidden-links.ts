import { Observable, useObservable } from '../../state/observable.ts'

/** Links that are about to be deleted, and already out of sight. */
const hidden = new Observable<ReadonlySet<string>>(new Set())

export function useHiddenLinks(): ReadonlySet<string> {
  return useObservable(hidden)
}

export function hideLinks(ids: Iterable<string>): void {
  hidden.set(new Set([...hidden.value, ...ids]))
}

export function showLinks(ids: Iterable<string>): void {
  hidden.set(hidden.value.difference(new Set(ids)))
}
