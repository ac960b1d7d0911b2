import { Tooltip } from '@base-ui/react/tooltip'
import { useEffect, useId, useState } from 'react'
import { useFormats } from '../text/use-text.ts'

const DELAY_MS = 400
/** Long enough to move the pointer from the time to the text. */
const CLOSE_MS = 100
const TIME = 'time.exact'
const TIP = '.exact-tip'

/**
 * Shows the exact instant of a time on hover and focus. One for all times of the page: a list has hundreds, and a
 * tooltip each would slow it down.
 */
export default function ExactTimes() {
  const formats = useFormats()
  const id = useId()
  const [shown, setShown] = useState<HTMLTimeElement>()
  useEffect(() => watchTimes(setShown), [])
  useEffect(() => {
    shown?.setAttribute('aria-describedby', id)
    return () => shown?.removeAttribute('aria-describedby')
  }, [shown, id])
  return (
    <Tooltip.Root open={shown !== undefined} onOpenChange={() => setShown(undefined)}>
      <Tooltip.Portal>
        <Tooltip.Positioner anchor={shown ?? null} sideOffset={6} className="layer">
          <Tooltip.Popup id={id} role="tooltip" className="tip exact-tip">
            {shown !== undefined && formats.exact(new Date(shown.dateTime))}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}

/** @returns how to stop */
function watchTimes(show: (time: HTMLTimeElement | undefined) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const after = (ms: number, time: HTMLTimeElement | undefined) => {
    clearTimeout(timer)
    timer = setTimeout(() => show(time), ms)
  }
  const timeOf = (target: EventTarget | null) =>
    target instanceof Element ? (target.closest<HTMLTimeElement>(TIME) ?? undefined) : undefined
  const end = new AbortController()
  const on = { signal: end.signal }
  document.addEventListener(
    'pointerover',
    ({ target, pointerType }) => {
      if (pointerType === 'touch') return
      const time = timeOf(target)
      if (time !== undefined) after(DELAY_MS, time)
      else if (target instanceof Element && target.closest(TIP) !== null) clearTimeout(timer)
      else after(CLOSE_MS, timeOf(document.activeElement))
    },
    on,
  )
  document.addEventListener('focusin', ({ target }) => after(0, timeOf(target)), on)
  document.addEventListener('focusout', () => after(CLOSE_MS, undefined), on)
  document.addEventListener(
    'keydown',
    ({ key }) => {
      if (key === 'Escape') after(0, undefined)
    },
    on,
  )
  return () => {
    end.abort()
    clearTimeout(timer)
  }
}
