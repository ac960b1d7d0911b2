export const EXPIRIES = ['year', 'quarter', 'month', 'never', 'custom'] as const
export type Expiry = (typeof EXPIRIES)[number]

const DAYS: Partial<Record<Expiry, number>> = { month: 30, quarter: 90, year: 365 }
const DAY_MS = 24 * 60 * 60_000

/**
 * When a token expires, as an ISO 8601 instant; null for never.
 *
 * @param day of `custom`, `YYYY-MM-DD`: the token works to its end, in the time zone of the browser
 */
export function expiryOf(expiry: Expiry, day: string, now: Date): string | null {
  if (expiry === 'never') return null
  if (expiry !== 'custom')
    return new Date(now.getTime() + (DAYS[expiry] ?? 0) * DAY_MS).toISOString()
  const end = new Date(`${day}T00:00:00`)
  end.setDate(end.getDate() + 1)
  return end.toISOString()
}
