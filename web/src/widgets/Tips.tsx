import { Tooltip } from '@base-ui/react/tooltip'
import { useEffect, useId, useState } from 'react'
import { useFormats } from '../text/use-text.ts'
import { watchTips } from './watch-tips.ts'

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
