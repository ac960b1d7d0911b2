import type { LiveBatch, LiveClick, LiveStart } from '../../api/live-clicks.ts'

const MINUTE_MS = 60_000
const ROWS_MAX = 50

type Minute = { readonly startMs: number; readonly clicks: number }

/** What the live view shows. */
export type LiveData = {
  /** The last one is under way. */
  readonly minutes: readonly Minute[]
  /** The newest clicks, the newest first. */
  readonly rows: readonly { readonly nth: number; readonly click: LiveClick }[]
  /** How many clicks have had a row. */
  readonly received: number
}

export function liveData({ minutes, clicks }: LiveStart): LiveData {
  const counted = minutes.map((minute) => ({
    startMs: Date.parse(minute.start),
    clicks: minute.clicks,
  }))
  return withRows({ minutes: counted, rows: [], received: 0 }, clicks)
}

/** Adds clicks to their minutes. Those that came too late for any are not of the last 30 minutes. */
export function withClicks(data: LiveData, { clicks, left_out }: LiveBatch): LiveData {
  const [first] = data.minutes
  if (first === undefined) return data
  const added = data.minutes.map(() => 0)
  const add = (at: string | undefined, count: number) => {
    const nth = Math.floor((Date.parse(at ?? '') - first.startMs) / MINUTE_MS)
    // The clock of another node may be ahead.
    const place = Math.min(nth, added.length - 1)
    if (place >= 0) added[place] = (added[place] ?? 0) + count
  }
  for (const { at, count } of clicks) add(at, count)
  add(clicks.at(-1)?.at, left_out)
  const minutes = data.minutes.map(({ startMs, clicks: before }, nth) => ({
    startMs,
    clicks: before + (added[nth] ?? 0),
  }))
  const recent = clicks.filter(({ at }) => Date.parse(at) >= first.startMs)
  return withRows({ ...data, minutes }, recent)
}

/** Moves on to the minute of an instant; the same data while the minute has not ended. */
export function movedTo(data: LiveData, nowMs: number): LiveData {
  const { minutes } = data
  const last = minutes.at(-1)
  const passed = last === undefined ? 0 : Math.floor((nowMs - last.startMs) / MINUTE_MS)
  if (last === undefined || passed <= 0) return data
  const next = minutes.map(({ startMs }, nth): Minute => {
    const moved = startMs + passed * MINUTE_MS
    return { startMs: moved, clicks: minutes[nth + passed]?.clicks ?? 0 }
  })
  const firstMs = next[0]?.startMs ?? 0
  const rows = data.rows.filter(({ click }) => Date.parse(click.at) >= firstMs)
  return { ...data, minutes: next, rows }
}

export function clicksOf({ minutes }: LiveData): number {
  return minutes.reduce((sum, { clicks }) => sum + clicks, 0)
}

function withRows(data: LiveData, clicks: readonly LiveClick[]): LiveData {
  const rows = clicks.map((click, nth) => ({ nth: data.received + nth, click }))
  return {
    ...data,
    rows: [...rows.toReversed(), ...data.rows].slice(0, ROWS_MAX),
    received: data.received + clicks.length,
  }
}
