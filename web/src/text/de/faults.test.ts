import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ERROR_DETAILS, FAULTS } from '@terse/contract/faults'
import { faultText, wholeText } from '../fault-text.ts'
import { faults } from './faults.ts'

type Texts = Readonly<Record<string, string | Readonly<Record<string, string>>>>

/** Every text by its code and reason. The compiler checks that German has all of them. */
function textsOf(catalogue: Texts): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(catalogue).flatMap(([code, found]) =>
      typeof found === 'string'
        ? [[code, found]]
        : Object.entries(found).map(([reason, text]) => [`${code} ${reason}`, text] as const),
    ) as [string, string][],
  )
}

function parametersIn(text: string): readonly string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

describe('the German faults', () => {
  for (const [name, catalogue, german] of [
    ['fields', FAULTS, faults.fields],
    ['whole errors', ERROR_DETAILS, faults.details],
  ] as const) {
    test(`use only parameters that faults of ${name} have`, () => {
      const known = textsOf(catalogue)
      for (const [which, text] of textsOf(german)) {
        const parameters = parametersIn(known.get(which) ?? '')
        assert.ok(
          parametersIn(text).every((parameter) => parameters.includes(parameter)),
          which,
        )
      }
    })
  }
})

describe('faultText', () => {
  const message = 'as the API words it'
  const cases: [{ code: string; [parameter: string]: unknown }, string][] = [
    [{ code: 'required' }, 'fehlt'],
    [{ code: 'taken', reason: 'link' }, 'ist auf dieser Domain vergeben'],
    [{ code: 'out_of_range', min: 64, max: 2_048 }, 'muss eine ganze Zahl von 64 bis 2048 sein'],
    [{ code: 'not_one_of', allowed: ['a', 'b'] }, 'muss einer dieser Werte sein: a, b'],
    [{ code: 'taken', reason: 'of a later version' }, message],
    [{ code: 'of_a_later_version' }, message],
  ]
  for (const [fault, words] of cases) {
    test(`words ${JSON.stringify(fault)} as “${words}”`, () =>
      assert.equal(faultText({ ...fault, message }, faults), words))
  }

  test('returns the message where the language is that of the API', () =>
    assert.equal(faultText({ code: 'required', message }, null), message))
})

describe('wholeText', () => {
  const error = { message: 'as the API words it', request_id: 'r-1', details: undefined }
  const cases: [{ code: string; details?: { code: string; reason?: string } }, string][] = [
    [{ code: 'queue_full' }, faults.errors.queue_full],
    [
      { code: 'missing_role', details: { code: 'role_needed', reason: 'admin' } },
      faults.details.role_needed.admin,
    ],
    [{ code: 'missing_role', details: { code: 'of_a_later_version' } }, faults.errors.missing_role],
    [
      { code: 'internal' },
      'Beim Dienst ist ein Fehler aufgetreten. Bitte melden Sie die Anfrage r-1.',
    ],
    [{ code: 'of_a_later_version' }, error.message],
  ]
  for (const [given, words] of cases) {
    test(`words ${JSON.stringify(given)} as “${words}”`, () =>
      assert.equal(wholeText({ ...error, ...given }, faults), words))
  }
})
