import { Tooltip } from '@base-ui/react/tooltip'
import { useEffect, useId, useState } from 'react'
import { Observable } from '../state/observable.ts'
import { useFormats } from '../text/use-text.ts'

/**
 * Shows the text of `tip` and the exact instant of a time on hover and focus. One for all of the page: a list has
 * hundreds, and a tooltip each would slow it down.
 */
export function Tips() {
  const formats = useFormats()
  const id = useId()
  // An object each time: the text of an element may have changed since its tip was shown.
  const [{ host: shown }, setShown] = useState<{ readonly host?: HTMLElement | undefined }>({})
  useEffect(() => watchTips((host) => setShown({ host })), [])
  const instant = shown instanceof HTMLTimeElement ? new Date(shown.dateTime) : undefined
  const text = instant === undefined ? shown?.dataset['tip'] : formats.exact(instant)
  const key = shown?.dataset['tipKey']
  useEffect(() => {
    // Nothing is read twice.
    if (shown === undefined || shown.ariaLabel === text) return
    shown.setAttribute('aria-describedby', id)
    return () => shown.removeAttribute('aria-describedby')
  }, [shown, text, id])
  return (
    <Tooltip.Root open={shown !== undefined} onOpenChange={() => setShown({})}>
      <Tooltip.Portal>
        <Tooltip.Positioner anchor={shown ?? null} sideOffset={6} className="layer">
          <Tooltip.Popup id={id} role="tooltip" className="tip">
            {text}
            {key !== undefined && <kbd aria-hidden>{key}</kbd>}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}

const DELAY_MS = 400
/** Long enough to move the pointer from the element to its text. */
const CLOSE_MS = 100
const HOSTS = 'time.exact, [data-tip]'
const TIP = '.tip'

/**
 * Follows the pointer and the focus, and passes the element whose tip is to be shown.
 *
 * @returns how to stop
 */
function watchTips(show: (host: HTMLElement | undefined) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Its tip would cover what the press has done; it is shown again once the pointer was elsewhere. */
  let pressed: HTMLElement | undefined
  const hide = new MutationObserver(() => {
    if (!shown?.isConnected) after(0, undefined)
  })
  let shown: HTMLElement | undefined
  function set(host: HTMLElement | undefined): void {
    shown = host?.isConnected ? host : undefined
    hide.disconnect()
    if (shown !== undefined) hide.observe(document.body, { childList: true, subtree: true })
    show(shown)
  }
  function after(ms: number, host: HTMLElement | undefined): void {
    clearTimeout(timer)
    timer = setTimeout(() => set(host), ms)
  }
  const end = new AbortController()
  const on = { signal: end.signal }
  document.addEventListener(
    'pointerover',
    ({ target, pointerType }) => {
      if (pointerType === 'touch') return
      const host = hostOf(target)
      if (host !== pressed) pressed = undefined
      else if (host !== undefined) return
      if (host !== undefined) after(DELAY_MS, host)
      else if (target instanceof Element && target.closest(TIP) !== null) clearTimeout(timer)
      else after(CLOSE_MS, focusedHost())
    },
    on,
  )
  document.addEventListener(
    'pointerdown',
    ({ target }) => {
      pressed = hostOf(target)
      after(0, undefined)
    },
    on,
  )
  document.addEventListener('focusin', () => after(0, focusedHost()), on)
  document.addEventListener('focusout', () => after(CLOSE_MS, undefined), on)
  document.addEventListener(
    'keydown',
    ({ key }) => {
      if (key === 'Escape') after(0, undefined)
    },
    on,
  )
  function showRequested(): void {
    const leftMs = (requestedTip.value?.untilMs ?? 0) - Date.now()
    if (leftMs <= 0) return
    set(requestedTip.value?.host)
    after(leftMs, undefined)
  }
  showRequested()
  const unsubscribe = requestedTip.subscribe(showRequested)
  return () => {
    unsubscribe()
    end.abort()
    hide.disconnect()
    clearTimeout(timer)
  }
}

function hostOf(target: EventTarget | null): HTMLElement | undefined {
  return target instanceof Element ? (target.closest<HTMLElement>(HOSTS) ?? undefined) : undefined
}

/** The focused element, if it has a tip, and was not focused by a press. */
function focusedHost(): HTMLElement | undefined {
  const focused = document.activeElement
  return focused?.matches(':focus-visible') ? hostOf(focused) : undefined
}

/**
 * The attributes of an element that shows a text on hover and focus, which `Tips` does. The text repeats the
 * accessible name, or adds to what is visible.
 */
export function tip(text: string, shortcut?: string) {
  return { 'data-tip': text, ...(shortcut !== undefined && { 'data-tip-key': shortcut }) }
}

/** The element whose tip `showTip` was asked for last, which `Tips` shows even if it is loaded only then. */
const requestedTip = new Observable<{ host: HTMLElement; untilMs: number } | undefined>(undefined)

/** Shows the tip of an element for this long, on touch too. */
export function showTip(host: HTMLElement, timeMs: number): void {
  requestedTip.set({ host, untilMs: Date.now() + timeMs })
}
