import { Observable } from '../state/observable.ts'

/**
 * The attributes of an element that shows a text on hover and focus, which `Tips` does. The text repeats the
 * accessible name, or adds to what is visible.
 */
export function tip(text: string, shortcut?: string) {
  return { 'data-tip': text, ...(shortcut !== undefined && { 'data-tip-key': shortcut }) }
}

/** The element whose tip `showTip` was asked for last, which `Tips` shows even if it is loaded only then. */
export const requestedTip = new Observable<{ host: HTMLElement; untilMs: number } | undefined>(
  undefined,
)

/** Shows the tip of an element for this long, on touch too. */
export function showTip(host: HTMLElement, timeMs: number): void {
  requestedTip.set({ host, untilMs: Date.now() + timeMs })
}
