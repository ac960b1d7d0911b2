import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { nearestPoint } from './scale.ts'

type Cursor = {
  /** The point that is read out. */
  readonly at: number | undefined
  /** The first and the last point of the part that is being selected. */
  readonly selection: readonly [number, number] | undefined
  readonly handlers: {
    onPointerMove(event: PointerEvent<HTMLElement>): void
    onPointerDown(event: PointerEvent<HTMLElement>): void
    onPointerUp(): void
    onPointerLeave(): void
    onPointerCancel(): void
    onKeyDown(event: KeyboardEvent): void
    onFocus(): void
    onBlur(): void
  }
}

/**
 * Moves over the points of a plot by pointer and arrow keys, and selects a part of it: by dragging, or with
 * Shift and Enter. A finger only moves; dragging would take the page's scrolling away.
 *
 * @param start the point at which the keyboard begins
 */
export function usePlotCursor(
  count: number,
  start: number,
  onZoom: ((from: number, to: number) => void) | undefined,
): Cursor {
  const [at, setAt] = useState<number>()
  const [anchor, setAnchor] = useState<number>()
  const current = at === undefined ? undefined : Math.min(at, count - 1)

  function clear() {
    setAt(undefined)
    setAnchor(undefined)
  }
  function zoom(from: number, to: number) {
    clear()
    onZoom?.(Math.min(from, to), Math.max(from, to))
  }
  function moveTo(index: number, isSelecting: boolean) {
    const next = Math.min(count - 1, Math.max(0, index))
    if (!isSelecting) setAnchor(undefined)
    else if (anchor === undefined) setAnchor(current ?? start)
    setAt(next)
  }

  function onKeyDown(event: KeyboardEvent) {
    const from = current ?? start
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: from - 1,
      ArrowDown: from - 1,
      ArrowRight: from + 1,
      ArrowUp: from + 1,
      PageDown: from - 7,
      PageUp: from + 7,
      Home: 0,
      End: count - 1,
    }
    const target = targets[event.key]
    if (target !== undefined) moveTo(target, event.shiftKey && onZoom !== undefined)
    else if (event.key === 'Enter' && onZoom !== undefined) zoom(anchor ?? from, from)
    else if (event.key === 'Escape' && current !== undefined) clear()
    else return
    event.preventDefault()
  }

  return {
    at: current,
    selection:
      anchor === undefined || current === undefined
        ? undefined
        : [Math.min(anchor, current), Math.max(anchor, current)],
    handlers: {
      onPointerMove: (event) => setAt(pointOf(event, count)),
      onPointerDown(event) {
        if (event.pointerType === 'touch') setAt(pointOf(event, count))
        if (event.pointerType === 'touch' || event.button !== 0 || onZoom === undefined) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setAnchor(pointOf(event, count))
      },
      onPointerUp() {
        if (anchor !== undefined && current !== undefined && anchor !== current)
          zoom(anchor, current)
        else setAnchor(undefined)
      },
      onPointerLeave: () => anchor === undefined && clear(),
      onPointerCancel: clear,
      onKeyDown,
      onFocus: () => setAt((before) => before ?? start),
      onBlur: clear,
    },
  }
}

function pointOf(event: PointerEvent<HTMLElement>, count: number): number {
  const { left, width } = event.currentTarget.getBoundingClientRect()
  return nearestPoint((event.clientX - left) / width, count)
}
