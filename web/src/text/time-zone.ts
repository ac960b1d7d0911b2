const DAY_MS = 86_400_000
/** Preferred to `Intl`, whose first use takes 50 ms or more on a slow phone. Not all browsers have it. */
const temporal: typeof Temporal | undefined = globalThis.Temporal

/** The time zone of the browser, such as `Europe/Berlin`. */
export function browserTimeZone(): string {
  return temporal?.Now.timeZoneId() ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** The date in a time zone, as `YYYY-MM-DD`. */
export function dateIn(timezone: string, instant: Date): string {
  return temporal === undefined
    ? dateByIntl(timezone, instant)
    : dateBy(temporal, timezone, instant)
}

function dateBy({ Instant }: typeof Temporal, timezone: string, instant: Date): string {
  const local = Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timezone)
  return local.toPlainDate().toString()
}

/** The same by `Intl`, for browsers without `Temporal`. */
export function dateByIntl(timezone: string, instant: Date): string {
  const options = { timeZone: timezone, year: 'numeric', month: '2-digit', day: '2-digit' } as const
  const parts = new Intl.DateTimeFormat('en', options).formatToParts(instant)
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ''
  return `${part('year')}-${part('month')}-${part('day')}`
}

/** The local time in a time zone, as `YYYY-MM-DDTHH:MM`. */
export function minuteIn(timezone: string, instant: Date): string {
  return temporal === undefined
    ? minuteByIntl(timezone, instant)
    : minuteBy(temporal, timezone, instant)
}

function minuteBy({ Instant }: typeof Temporal, timezone: string, instant: Date): string {
  const local = Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timezone)
  return local.toPlainDateTime().toString({ smallestUnit: 'minute' })
}

/** The same by `Intl`, for browsers without `Temporal`. */
export function minuteByIntl(timezone: string, instant: Date): string {
  const options = {
    timeZone: timezone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  } as const
  const parts = new Intl.DateTimeFormat('en', options).formatToParts(instant)
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ''
  return `${dateByIntl(timezone, instant)}T${part('hour')}:${part('minute')}`
}

/**
 * The instant of a local time in a time zone: of one that comes twice, the first; of one that a change of the clocks
 * leaves out, as long after it.
 *
 * @param local `YYYY-MM-DD`, its midnight, or `YYYY-MM-DDTHH:MM`
 */
export function instantIn(timezone: string, local: string): Date {
  return temporal === undefined
    ? instantByIntl(timezone, local)
    : instantBy(temporal, timezone, local)
}

function instantBy({ PlainDateTime }: typeof Temporal, timezone: string, local: string): Date {
  return new Date(PlainDateTime.from(local).toZonedDateTime(timezone).epochMilliseconds)
}

/** The same by `Intl`, for browsers without `Temporal`. */
export function instantByIntl(timezone: string, local: string): Date {
  const minute = local.length === 10 ? `${local}T00:00` : local
  const localMs = Date.parse(`${minute}Z`)
  // Both offsets that may hold around it.
  const candidates = [localMs - DAY_MS, localMs + DAY_MS].map(
    (nearMs) => localMs - offsetMs(timezone, nearMs),
  )
  const fitting = candidates.filter((ms) => minuteByIntl(timezone, new Date(ms)) === minute)
  return new Date(fitting.length > 0 ? Math.min(...fitting) : (candidates[0] ?? localMs))
}

function offsetMs(timezone: string, atMs: number): number {
  return (
    Date.parse(`${minuteByIntl(timezone, new Date(atMs))}Z`) - Math.floor(atMs / 60_000) * 60_000
  )
}
