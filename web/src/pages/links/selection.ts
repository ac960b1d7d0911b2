import { Observable, useObservable } from '../../state/observable.ts'
import { currentWorkspace } from '../../state/workspace.ts'

/** The ids of the selected links, on all pages of one filter. Kept while another page of the dashboard is shown. */
const selection = new Observable<ReadonlySet<string>>(new Set())

/** What was filtered by when the selection was made. */
let selectedUnder = ''

/** Ends the selection when another filter is chosen: what is done to it must not hit links that are not shown. */
export function selectUnder(filter: string): void {
  if (filter !== selectedUnder) clearSelection()
  selectedUnder = filter
}

export function useSelection(): ReadonlySet<string> {
  return useObservable(selection)
}

export function select(ids: Iterable<string>, isSelected: boolean): void {
  const changed = new Set(ids)
  selection.set(isSelected ? selection.value.union(changed) : selection.value.difference(changed))
}

export function clearSelection(): void {
  if (selection.value.size > 0) selection.set(new Set())
}

currentWorkspace.subscribe(clearSelection)
