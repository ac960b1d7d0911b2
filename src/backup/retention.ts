/** How many backups of which age are kept: the last one of each of so many hours, days, weeks or months. */
export type Retention = readonly { readonly count: number; readonly unit: RetentionUnit }[]
type RetentionUnit = 'h' | 'd' | 'w' | 'm'

const COUNT_MAX = 10_000
const DAY_MS = 86_400_000
/** 1970-01-05 was a Monday. */
const FIRST_MONDAY = 4

/** Reads `24h,14d,8w,12m`; undefined when the text is not such a list. */
export function parseRetention(text: string): Retention | undefined {
  const rules = text.split(',').map((part) => /^\s*([1-9]\d{0,4})([hdwm])\s*$/.exec(part))
  const retention = rules.flatMap((match) =>
    match === null ? [] : [{ count: Number(match[1]), unit: match[2] as RetentionUnit }],
  )
  const isUsable =
    retention.length === rules.length && retention.every(({ count }) => count <= COUNT_MAX)
  return isUsable ? retention : undefined
}

/**
 * Decides which backups are no longer needed. The newest backup and those in `kept` always are. Periods are
 * those in UTC; a period without a backup does not count.
 *
 * @param backups with their instants
 */
export function decideExpired<B extends { readonly name: string; readonly at: Date }>(
  backups: readonly B[],
  retention: Retention,
  kept: ReadonlySet<string>,
): readonly B[] {
  const newestFirst = [...backups].sort((a, b) => b.at.getTime() - a.at.getTime())
  const needed = new Set(kept)
  const [newest] = newestFirst
  if (newest !== undefined) needed.add(newest.name)
  for (const { count, unit } of retention) {
    const periods = new Set<number>()
    for (const { name, at } of newestFirst) {
      const period = periodOf(at, unit)
      if (periods.has(period)) continue
      if (periods.size === count) break
      periods.add(period)
      needed.add(name)
    }
  }
  return newestFirst.filter(({ name }) => !needed.has(name))
}

function periodOf(at: Date, unit: RetentionUnit): number {
  const ms = at.getTime()
  if (unit === 'h') return Math.floor(ms / 3_600_000)
  if (unit === 'd') return Math.floor(ms / DAY_MS)
  if (unit === 'w') return Math.floor((ms / DAY_MS - FIRST_MONDAY) / 7)
  return at.getUTCFullYear() * 12 + at.getUTCMonth()
}
