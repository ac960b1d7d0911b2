import { KuttRefusal } from './refusals.ts'

type Body = Readonly<Record<string, unknown>>

/** What a request says of a link, in the words of our API; undefined for what it leaves out. */
export type LinkInput = {
  readonly url?: string
  readonly key?: string
  readonly notes?: string
  readonly expires_at?: string
}

/** The texts of these units, as the npm package `ms` reads them, and how many milliseconds each has. */
const UNITS: readonly (readonly [names: RegExp, ms: number])[] = [
  [/^(?:ms|msecs?|milliseconds?)?$/, 1],
  [/^(?:s|secs?|seconds?)$/, 1_000],
  [/^(?:m|mins?|minutes?)$/, 60_000],
  [/^(?:h|hrs?|hours?)$/, 3_600_000],
  [/^(?:d|days?)$/, 86_400_000],
  [/^(?:w|weeks?)$/, 7 * 86_400_000],
  [/^(?:y|yrs?|years?)$/, 365.25 * 86_400_000],
]
const DURATION = /^(-?\d*\.?\d+) *([a-z]*)$/
const EXPIRY_MS_MIN = 60_000
const INSTANT_MS_MAX = 8.64e15

/**
 * Returns the text of a field. Kutt takes an empty one, like any value that is false, for a field that was left out.
 *
 * @throws {KuttRefusal} for a value that is no text
 */
export function textOf(body: Body, name: string): string | undefined {
  const value = body[name]
  if (!value) return undefined
  if (typeof value !== 'string') throw new KuttRefusal(400, 'Invalid value')
  return value.trim() || undefined
}

/**
 * Returns the fields that creates and edits have in common.
 *
 * @param keyName the field that has the key: Kutt's creates and edits call it differently
 * @throws {KuttRefusal}
 */
export function linkInput(body: Body, keyName: 'customurl' | 'address'): LinkInput {
  const target = textOf(body, 'target')
  const key = textOf(body, keyName)
  const notes = textOf(body, 'description')
  const expiry = textOf(body, 'expire_in')
  return {
    ...(target !== undefined && { url: withScheme(target) }),
    ...(key !== undefined && { key }),
    ...(notes !== undefined && { notes }),
    ...(expiry !== undefined && { expires_at: instantIn(expiry) }),
  }
}

/** Whether a create may answer with a link that exists. @throws {KuttRefusal} */
export function mayReuse({ reuse }: Body): boolean {
  const text = String(reuse ?? false)
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw new KuttRefusal(400, 'Reuse must be boolean.')
}

function withScheme(target: string): string {
  return /^(?:\w+:|\/\/)/.test(target) ? target : `http://${target}`
}

function instantIn(text: string): string {
  const ms = durationMs(text)
  if (!ms) {
    throw new KuttRefusal(400, 'Expire format is invalid. Valid examples: 1m, 8h, 42 days.')
  }
  if (ms < EXPIRY_MS_MIN) throw new KuttRefusal(400, 'Expire time should be more than 1 minute.')
  return new Date(Math.min(Date.now() + ms, INSTANT_MS_MAX)).toISOString()
}

/** Returns the milliseconds of a text such as `2 days`, `8h` or `1.5m`; a number alone is milliseconds. */
function durationMs(text: string): number | undefined {
  const [, number, unit = ''] = DURATION.exec(text.toLowerCase()) ?? []
  const found = UNITS.find(([names]) => names.test(unit))
  return number === undefined || found === undefined ? undefined : Number(number) * found[1]
}
