import type { ClickReportResource, ExportedClick } from '@terse/contract/clicks'
import { type CallApi, CallRefused, type Query } from '../identity/index.ts'

/** Reports cover ten years at most. This leaves a margin of some days. */
export const ALL_TIME_DAYS = 3_650
export const DAY_MS = 86_400_000
/** Single clicks that are read for one answer, and held in memory meanwhile. */
export const SINGLE_CLICKS_MAX = 100_000

/** Returns the date of the day that was so long ago, in UTC. */
export function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
}

/**
 * Reads a report. One that is made from single clicks, such as those by tag, begins no earlier than the service keeps them.
 *
 * @throws {CallRefused}
 */
export async function readReport<T>(call: CallApi, path: string, query: Query): Promise<T> {
  try {
    return await call.get<T>(path, query)
  } catch (error) {
    const fault = singleClicksFault(error)
    if (fault?.reason !== 'old') throw error
    return call.get<T>(path, { ...query, from: daysAgo(fault.max) })
  }
}

type SingleClicksFault = { readonly code: string; readonly reason: string; readonly max: number }

/** Returns why a report could not be made from single clicks; undefined for any other error. */
export function singleClicksFault(error: unknown): SingleClicksFault | undefined {
  if (!(error instanceof CallRefused)) return undefined
  const faults = error.refusal.faults?.from ?? []
  return faults.find(({ code }) => code === 'no_single_clicks') as SingleClicksFault | undefined
}

/**
 * Reads the single clicks of a period, oldest first. Undefined where the quarter hours that it touches have more than
 * 100,000.
 *
 * @param path of the clicks, such as `/links/{id}/clicks`
 */
export async function readSingleClicks(
  call: CallApi,
  path: string,
  period: { readonly from: string; readonly to: string; readonly bots?: string },
): Promise<readonly ExportedClick[] | undefined> {
  const query = { ...period, interval: 'month' }
  const { total } = await call.get<Extract<ClickReportResource, { group_by: null }>>(path, query)
  const { clicks = 0, bots = 0 } = total
  if (clicks + (period.bots === 'include' ? bots : 0) > SINGLE_CLICKS_MAX) return undefined
  const { bytes } = await call.file(`${path}/export`, { ...period, format: 'ndjson' })
  const lines = bytes.toString('utf8').split('\n')
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as ExportedClick]))
}
