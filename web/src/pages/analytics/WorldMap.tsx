import map from 'virtual:world-map'
import { type PointerEvent, useMemo, useState } from 'react'
import { GROUPS_MAX } from '../../api/clicks.ts'
import { useChartFormats } from '../../text/chart-formats.ts'
import { once } from '../../text/formats.ts'
import { useText } from '../../text/use-text.ts'
import { toggled } from './analytics-search.ts'
import { useAddressChange } from './ChangeLink.tsx'
import { breakdownQuery, countOf } from './groups.ts'
import { useReport } from './reports.ts'
import { logStep } from './scale.ts'
import type { View } from './view.ts'

const STEPS = 4
/** Nearly hexagonal in whole numbers: 7 is about 8 · √3/2. */
const COLUMN = 8
const ROW = 7
const WIDTH = map.width * COLUMN + COLUMN / 2
const HEIGHT = map.height * ROW

/** Shown only with clicks: alone they would be specks in the sea. */
const ISLANDS = new Set(map.islands)
const countries = once(() =>
  Object.entries(map.dots).map(([code, dots]) => ({ code, path: pathOf(dots) })),
)
/** The countries of thousands of dots: found when a pointer is first over the map. */
const codes = once(codesByDot)

/** Clicks by country as dots, darker for more. The list beside it has the same numbers and links. */
export function WorldMap({ view }: { view: View }) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const change = useAddressChange()
  const [hovered, setHovered] = useState<string>()
  const { data, isStale } = useReport(breakdownQuery(view, 'country', GROUPS_MAX))
  const counts = useMemo(
    () => new Map(data?.data.map((group) => [group.value ?? '', countOf(group)])),
    [data],
  )
  const largest = Math.max(0, ...[...counts].map(([code, count]) => (code === '' ? 0 : count)))
  const known = [...counts.keys()].filter((code) => code !== '').length
  const set = view.filter.country ?? []
  const drawn = [...new Set([...set, ...(hovered === undefined ? [] : [hovered])])]
  return (
    <section className="cell w4 first">
      <div className="cell-h">
        <h2>{t.analytics.world}</h2>
        {view.measure === 'visitors' && <span className="hint">{t.analytics.byClicks}</span>}
        <div className="end">
          {hovered === undefined ? (
            <span>{data !== undefined && t.analytics.countries(known)}</span>
          ) : (
            <span className="text-text">
              {formats.country(hovered)} {formats.number(counts.get(hovered) ?? 0)}
            </span>
          )}
        </div>
      </div>
      <div className="map" aria-busy={isStale}>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the list beside it has the same links */}
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          role="img"
          aria-label={t.analytics.mapLabel}
          onPointerMove={(event) => setHovered(countryAt(event))}
          onPointerLeave={() => setHovered(undefined)}
          onClick={() => {
            if (hovered !== undefined) change({ country: toggled(set, hovered) })
          }}
          className={hovered === undefined ? '' : 'cursor-pointer'}
        >
          {countries()
            .filter(({ code }) => counts.has(code) || !ISLANDS.has(code))
            .map(({ code, path }) => (
              <path
                key={code}
                className={`m${logStep(counts.get(code) ?? 0, largest, STEPS)}`}
                d={path}
              />
            ))}
          {drawn.map((code) => (
            <path
              key={code}
              className={`m${logStep(counts.get(code) ?? 0, largest, STEPS)} sel`}
              d={pathOf(map.dots[code] ?? [])}
            />
          ))}
        </svg>
      </div>
      <div className="scale">
        <span>1</span>
        {Array.from({ length: STEPS }, (_, nth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps never change
          <i key={nth} className={`m${nth + 1}`} />
        ))}
        <span>{formats.number(largest)}</span>
        <i className="m0 ml-3" />
        <span>{t.analytics.mapNone}</span>
      </div>
    </section>
  )
}

/** A line without length for each dot: its round ends are the dot. */
function pathOf(dots: readonly number[]): string {
  let path = ''
  for (let nth = 0; nth < dots.length; nth += 2) {
    const [x, y] = centerOf(dots[nth] ?? 0, dots[nth + 1] ?? 0)
    path += `M${x} ${y}h0`
  }
  return path
}

function centerOf(column: number, row: number): readonly [number, number] {
  return [column * COLUMN + (row % 2) * (COLUMN / 2) + COLUMN / 2, row * ROW + ROW / 2]
}

function codesByDot(): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [code, dots] of Object.entries(map.dots)) {
    for (let nth = 0; nth < dots.length; nth += 2) found.set(`${dots[nth]} ${dots[nth + 1]}`, code)
  }
  return found
}

/** The country whose dot is under the pointer, or around it. */
function countryAt(event: PointerEvent<SVGElement>): string | undefined {
  const { left, top, width, height } = event.currentTarget.getBoundingClientRect()
  const y = ((event.clientY - top) / height) * HEIGHT
  const x = ((event.clientX - left) / width) * WIDTH
  const row = Math.min(map.height - 1, Math.max(0, Math.round((y - ROW / 2) / ROW)))
  const column = Math.round((x - COLUMN / 2 - (row % 2) * (COLUMN / 2)) / COLUMN)
  return codes().get(`${column} ${row}`)
}
