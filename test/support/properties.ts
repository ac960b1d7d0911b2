import fc, { type Parameters } from 'fast-check'
import { formSetting } from './long-form.ts'
import { SEED } from './random.ts'

/** Requests of the run over the API description. */
export const API_CASES = formSetting('FUZZ_CASES')

/** The requests to which the cases of other properties are in proportion. */
const UNIT = 10_000

/** Returns the number of cases: the given one for `UNIT` requests, scaled to those of this run. */
export function scaled(cases: number): number {
  return Math.ceil((cases * API_CASES) / UNIT)
}

/** Runs a property; a failure prints its seed. */
export function cases(count: number): Parameters<unknown> {
  return { numRuns: scaled(count), seed: SEED }
}

const SURROGATES = { first: 0xd800, count: 0x800 }

/** Any character of Unicode. fast-check's unit `binary` builds a map of all of them first, for a second. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ffff - SURROGATES.count })
  .map((nth) => String.fromCodePoint(nth < SURROGATES.first ? nth : nth + SURROGATES.count))

const urlText = fc
  .array(
    fc.oneof(
      fc.constantFrom(..."abcdefxyzABCXYZ0189-._~!$&'()*+,;=:@"),
      anyCharacter.map((character) => encodeURIComponent(character)),
    ),
  )
  .map((characters) => characters.join(''))
const urlEnd = (mark: string) =>
  fc.option(urlText, { nil: undefined }).map((text) => (text === undefined ? '' : mark + text))

/** A web address with any path, query and fragment. `fc.webUrl` builds the map of all characters too. */
export const webUrl: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('http://', 'https://'),
    fc.domain(),
    fc.array(urlText).map((segments) => segments.map((segment) => `/${segment}`).join('')),
    urlEnd('?'),
    urlEnd('#'),
  )
  .map((parts) => parts.join(''))
