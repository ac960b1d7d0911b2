import { type KeyboardEvent, type PointerEvent, type ReactNode, useId, useState } from 'react'
import { useText } from '../../text/use-text.ts'
import { LinkName } from '../../widgets/LinkName.tsx'
import {
  type LineValues,
  linePaths,
  nearestPoint,
  PLOT_HEIGHT,
  PLOT_WIDTH,
  pointLabels,
  shareOf,
  spreadLabels,
  valueTicks,
} from './scale.ts'

const LABEL_HEIGHT_SHARE = 16 / PLOT_HEIGHT

export type PlotLine = LineValues & {
  readonly id: string
  /** `cur`, `prv`, or `s1` to `s5` for a compared link. */
  readonly look: string
  readonly hasFill?: boolean
  /** At the right end of the line. */
  /** The short link that it belongs to, at its end. */
  readonly label?: string
}

export type ReadOut = {
  readonly title: string
  readonly rows: readonly { readonly look: string; readonly name: string; readonly value: string }[]
  readonly change?: { readonly name: string; readonly value: string; readonly isRise: boolean }
}

type PlotProps = {
  /** What is shown, in a sentence. */
  readonly label: string
  readonly lines: readonly PlotLine[]
  /** The points of the whole width. */
  readonly count: number
  readonly pointLabel: (index: number) => string
  readonly valueLabel: (value: number) => string
  readonly readOut: (index: number) => ReadOut
  /** Undefined where a point cannot be divided. */
  readonly onZoom: ((from: number, to: number) => void) | undefined
}

/** Lines over time, with a read-out that follows the pointer and the arrow keys. */
export function Plot(props: PlotProps) {
  const { label, lines, count, pointLabel, valueLabel, readOut, onZoom } = props
  const t = useText()
  const hintId = useId()
  const ticks = valueTicks(
    Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))),
  )
  const top = ticks.at(-1) ?? 1
  const longest = Math.max(
    0,
    ...lines.filter(({ look }) => look !== 'prv').map((l) => l.values.length),
  )
  const { at, selection, handlers } = usePlotCursor(count, Math.max(0, longest - 1), onZoom)
  const shown = at === undefined ? undefined : readOut(at)
  const hasLabels = lines.some((one) => one.label !== undefined)
  return (
    <div className={hasLabels ? 'plot labelled' : 'plot'}>
      {ticks.map((tick) => (
        <Rule key={tick} top={percent(1 - tick / top)} isBase={tick === 0}>
          {valueLabel(tick)}
        </Rule>
      ))}
      <svg viewBox={`0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`} preserveAspectRatio="none" aria-hidden>
        <Lines lines={lines} count={count} top={top} />
      </svg>
      {pointLabels(count).map(({ index, isSpare }) => (
        <span
          key={index}
          className={`x-label ${isSpare ? 'spare' : ''} ${index === 0 ? 'first' : index === count - 1 ? 'last' : ''}`}
          style={{ left: percent(shareOf(index, count)) }}
        >
          {pointLabel(index)}
        </span>
      ))}
      {hasLabels && <EndLabels lines={lines} top={top} />}
      <Points lines={lines} count={count} top={top} at={at} />
      {selection !== undefined && (
        <span
          className="zoom"
          style={{
            left: percent(shareOf(selection[0], count)),
            right: percent(1 - shareOf(selection[1], count)),
          }}
        />
      )}
      <div
        className="hit"
        // A slider: screen readers announce each value that the arrow keys reach.
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-describedby={hintId}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, count)}
        aria-valuenow={(at ?? Math.max(0, longest - 1)) + 1}
        aria-valuetext={spoken(shown ?? readOut(Math.max(0, longest - 1)))}
        {...handlers}
      />
      <span className="sr" id={hintId}>
        {onZoom === undefined ? t.analytics.readHint : t.analytics.chartHint}
      </span>
      {shown !== undefined && at !== undefined && (
        <ReadOutBox readOut={shown} share={shareOf(at, count)} />
      )}
    </div>
  )
}

export function Rule({
  top,
  isBase,
  children,
}: {
  top: string
  isBase: boolean
  children: ReactNode
}) {
  return (
    <>
      <span className={isBase ? 'grid-line base' : 'grid-line'} style={{ top }} />
      <span className="y-label" style={{ top }}>
        {children}
      </span>
    </>
  )
}

type DrawnLines = {
  readonly lines: readonly PlotLine[]
  readonly count: number
  readonly top: number
}

function Lines({ lines, count, top }: DrawnLines) {
  return lines.map((one) => {
    const paths = linePaths(one, count, top)
    return (
      <g key={one.id}>
        {one.hasFill && <path className="fill" d={paths.fill} />}
        <path className={one.look} d={paths.line} />
        {one.isUnfinished && <path className={`${one.look} today`} d={paths.unfinished} />}
      </g>
    )
  })
}

/** The points under the cursor; without one, the newest of each line that is going on. */
function Points({ lines, count, top, at }: DrawnLines & { at: number | undefined }) {
  return (
    <>
      {at !== undefined && (
        <span className="pointer-line" style={{ left: percent(shareOf(at, count)) }} />
      )}
      {lines.map(({ id, look, values }) => {
        const index = at ?? (look === 'prv' ? -1 : values.length - 1)
        const value = values[index]
        if (typeof value !== 'number') return null
        const left = percent(shareOf(index, count))
        return (
          <span
            key={id}
            className={`point ${look}`}
            style={{ left, top: percent(1 - value / top) }}
          />
        )
      })}
    </>
  )
}

function EndLabels({ lines, top }: { lines: readonly PlotLine[]; top: number }) {
  const places = lines.map(
    ({ values }) => 1 - (values.findLast((value) => value !== null) ?? 0) / top,
  )
  const spread = spreadLabels(places, LABEL_HEIGHT_SHARE)
  return lines.map(({ id, look, label }, nth) => (
    <span key={id} className={`end-label ${look}`} style={{ top: percent(spread[nth] ?? 0) }}>
      {label !== undefined && <LinkName name={label} />}
    </span>
  ))
}

export function ReadOutBox({ readOut, share }: { readOut: ReadOut; share: number }) {
  const place =
    share > 0.5
      ? { right: `calc(${percent(1 - share)} + 12px)` }
      : { left: `calc(${percent(share)} + 12px)` }
  const { title, rows, change } = readOut
  return (
    <div className="read" style={{ top: 0, ...place }} aria-hidden>
      <span className="t">{title}</span>
      {rows.map(({ look, name, value }) => (
        <div key={name}>
          <span className={`key ${look}`}>{name}</span>
          <b>{value}</b>
        </div>
      ))}
      {change !== undefined && (
        <div className="chg">
          {change.name}
          <b className={change.isRise ? 'up' : 'down'}>{change.value}</b>
        </div>
      )}
    </div>
  )
}

export function spoken({ title, rows, change }: ReadOut): string {
  const parts = rows.map(({ name, value }) => `${name} ${value}`)
  if (change !== undefined) parts.push(`${change.name} ${change.value}`)
  return `${title}: ${parts.join(', ')}`
}

export function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`
}

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
 * @param place the point at a share of the width
 */
export function usePlotCursor(
  count: number,
  start: number,
  onZoom: ((from: number, to: number) => void) | undefined,
  place: (share: number, count: number) => number = nearestPoint,
): Cursor {
  const [at, setAt] = useState<number>()
  const [anchor, setAnchor] = useState<number>()
  const current = at === undefined ? undefined : Math.min(at, count - 1)

  function pointOf(event: PointerEvent<HTMLElement>): number {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    return place((event.clientX - left) / width, count)
  }
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
      onPointerMove: (event) => setAt(pointOf(event)),
      onPointerDown(event) {
        if (event.pointerType === 'touch') setAt(pointOf(event))
        if (event.pointerType === 'touch' || event.button !== 0 || onZoom === undefined) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setAnchor(pointOf(event))
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
