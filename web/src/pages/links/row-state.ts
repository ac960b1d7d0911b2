import type { FocusEvent, KeyboardEvent } from 'react'
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

const CONTROLS = 'input, a, button:not([hidden])'

function rows(): readonly HTMLTableRowElement[] {
  return [...document.querySelectorAll<HTMLTableRowElement>('tr[data-link]')]
}

/** Returns the controls of a row that are shown: phones leave some out. */
function controlsOf(row: HTMLTableRowElement): readonly HTMLElement[] {
  const all = [...row.querySelectorAll<HTMLElement>(CONTROLS)]
  return all.filter((control) => control.checkVisibility())
}

/** Makes the control that has the focus the one of its row that Tab leads to. */
export function onRowFocus({ target }: FocusEvent<HTMLElement>): void {
  const row = target.closest('tr')
  if (row === null) return
  for (const control of row.querySelectorAll<HTMLElement>(CONTROLS)) {
    control.tabIndex = control === target ? 0 : -1
  }
}

/** Arrow keys move along a row and between rows, Home and End to the ends of a row. */
export function onRowKey(event: KeyboardEvent<HTMLElement>): void {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return
  const target = event.target instanceof HTMLElement ? event.target : undefined
  const row = target?.closest('tr')
  if (target === undefined || !row) return
  const controls = controlsOf(row)
  const next = targetOf(event.key, row, controls, controls.indexOf(target))
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

function targetOf(
  key: string,
  row: HTMLTableRowElement,
  controls: readonly HTMLElement[],
  at: number,
): HTMLElement | undefined {
  if (key === 'ArrowLeft') return controls[at - 1]
  if (key === 'ArrowRight') return controls[at + 1]
  if (key === 'Home') return controls[0]
  if (key === 'End') return controls.at(-1)
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return undefined
  const all = rows()
  const other = all[all.indexOf(row) + (key === 'ArrowUp' ? -1 : 1)]
  return other && controlsOf(other)[at]
}

/** Where the row of a link is; -1 where it is not shown. */
export function rowIndexOf(linkId: string): number {
  return rows().findIndex((row) => row.dataset['link'] === linkId)
}

/** The link in the row there, or in the last one; undefined without rows. */
export function linkAt(index: number): HTMLElement | undefined {
  const all = rows()
  return all[Math.min(index, all.length - 1)]?.querySelector<HTMLElement>('.short a') ?? undefined
}

/** Focuses the row there, or the last one; the page itself without rows. */
export function focusRowAt(index: number): void {
  const link = index < 0 ? undefined : linkAt(index)
  const target = link ?? document.getElementById('main')
  target?.focus({ preventScroll: link === undefined })
}

/** Focuses the first row of links that were brought back; the page itself where none of them is on it. */
export function focusRestored(linkIds: readonly string[]): void {
  focusRowAt(linkIds.map(rowIndexOf).find((index) => index !== -1) ?? -1)
}

/** The link whose row is to be focused when it is shown. */
let wanted: string | undefined

/** Focuses the row of a link that was made or changed, once it is shown, unless something else has the focus. */
export function focusWhenShown(linkId: string): void {
  wanted = linkId
  takeWantedFocus()
}

/** To be called when the rows have changed. */
export function takeWantedFocus(): void {
  if (wanted === undefined) return
  const index = rowIndexOf(wanted)
  if (index === -1) return
  wanted = undefined
  if (isFocusFree(document.activeElement)) linkAt(index)?.focus({ preventScroll: true })
}

/** Whether it is nowhere, on the page as a whole or its title, or in a message that is about to go. */
function isFocusFree(active: Element | null): boolean {
  return active === null || active.matches('body, h1, #main') || active.closest('.toasts') !== null
}
