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
