import fc, { type Parameters } from 'fast-check'
import { formSetting } from './long-form.ts'
import { SEED } from './random.ts'

/** The unit of `FUZZ_CASES`: requests of the run over the API description. */
const API_CASES_DEFAULT = 10_000

/** How many times the default cases are run: `FUZZ_CASES` may increase them, never decrease. */
const factor = Math.max(1, formSetting('FUZZ_CASES') / API_CASES_DEFAULT)

/** Returns the number of cases: the given default, scaled up by `FUZZ_CASES`. */
export function scaled(byDefault: number): number {
  return Math.ceil(byDefault * factor)
}

export const API_CASES = scaled(API_CASES_DEFAULT)

/** Runs a property; a failure prints its seed. */
export function cases(byDefault: number): Parameters<unknown> {
  return { numRuns: scaled(byDefault), seed: SEED }
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
