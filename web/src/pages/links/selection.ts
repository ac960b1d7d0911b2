import { Observable, useObservable } from '../../state/observable.ts'
import { currentWorkspace } from '../../state/workspace.ts'

/** The ids of the selected links, on all pages. Kept while another page of the dashboard is shown. */
const selection = new Observable<ReadonlySet<string>>(new Set())

export function useSelection(): ReadonlySet<string> {
  return useObservable(selection)
}

export function select(ids: Iterable<string>, isSelected: boolean): void {
  const changed = new Set(ids)
  selection.set(isSelected ? selection.value.union(changed) : selection.value.difference(changed))
}

export function clearSelection(): void {
  selection.set(new Set())
}

currentWorkspace.subscribe(clearSelection)
