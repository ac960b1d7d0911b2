import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, type TestContext, test } from 'node:test'
import { writeCountryDatabase } from '../../../test/redirect/click/country-database.ts'
import { createFolder } from '../../../test/support/engines.ts'
import { NOWHERE, type Place } from '../click.ts'
import { hasCities, openPlaces, type Places } from './places.ts'

function fileFor(t: TestContext): string {
  const folder = createFolder()
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return path.join(folder, 'own.mmdb')
}

describe('openPlaces', () => {
  let bundled: Places
  before(async () => {
    bundled = await openPlaces(undefined)
  })

  // Networks of registries and universities that have stayed in one country for decades.
  for (const [address, country] of [
    ['193.0.6.139', 'NL'],
    ['202.12.27.33', 'JP'],
    ['200.160.2.3', 'BR'],
    ['133.11.0.1', 'JP'],
    ['5.9.1.1', 'DE'],
    ['2a01:4f8::1', 'DE'],
    ['2a01:04F8:0:0::1', 'DE'],
  ] as const) {
    test(`returns ${country} for ${address} from the bundled database`, () =>
      assert.deepEqual(bundled(address), { ...NOWHERE, country }))
  }

  const PRIVATE = [
    ...['127.0.0.1', '::1', '0:0:0:0:0:0:0:1', '10.1.2.3', '192.168.1.1', '172.20.0.1'],
    ...['169.254.1.1', '100.64.0.1', 'fe80::1', 'fd00::1'],
  ]
  for (const address of [...PRIVATE, '', 'no address', '999.1.1.1', '[::1]']) {
    test(`returns no country for ${address || 'an empty text'}`, () =>
      assert.deepEqual(bundled(address), NOWHERE))
  }

  describe('with a database of the operator’s', () => {
    const OWN: readonly { name: string; entry: object; place: Partial<Place> }[] = [
      {
        name: 'a database of countries of MaxMind or DB-IP',
        entry: { country: { iso_code: 'CH' } },
        place: { country: 'CH' },
      },
      {
        name: 'a database with only the code',
        entry: { country_code: 'CH' },
        place: { country: 'CH' },
      },
      {
        name: 'a database of cities of MaxMind',
        entry: {
          city: { names: { en: 'San Diego' } },
          country: { iso_code: 'US' },
          subdivisions: [{ iso_code: 'CA', names: { en: 'California' } }],
        },
        place: { country: 'US', region: 'US-CA', city: 'San Diego' },
      },
      {
        name: 'one without codes of regions, as DB-IP’s',
        entry: {
          city: { names: { en: 'Berlin' } },
          country: { iso_code: 'DE' },
          subdivisions: [{ names: { en: 'Land Berlin' } }],
        },
        place: { country: 'DE', region: 'Land Berlin', city: 'Berlin' },
      },
      {
        name: 'a flat database of cities',
        entry: { city: 'Zürich', country_code: 'CH', state1: 'Zurich' },
        place: { country: 'CH', region: 'Zurich', city: 'Zürich' },
      },
      {
        name: 'a database whose code is not ISO 3166',
        entry: { country_code: 'Swiss' },
        place: {},
      },
      {
        name: 'values of other types',
        entry: { country: 'CH', city: 1, subdivisions: 2 },
        place: {},
      },
      { name: 'a name that is too long', entry: { city: 'x'.repeat(200) }, place: {} },
    ]
    for (const { name, entry, place } of OWN) {
      test(`returns ${Object.values(place).join(', ') || 'nothing'} from ${name}`, async (t) => {
        const file = fileFor(t)
        writeCountryDatabase(file, entry)
        const places = await openPlaces(file)
        assert.deepEqual(places('192.0.2.1'), { ...NOWHERE, ...place })
        assert.deepEqual(places('10.0.0.1'), NOWHERE, 'no place for a private address')
      })
    }

    for (const [type, expected] of [
      ['GeoLite2-City', true],
      ['DBIP-City-Lite (compat=City)', true],
      ['DBIP-Location (compat=City)', true],
      ['DBIP-Location-ISP (compat=Enterprise)', true],
      ['GeoIP2-Enterprise', true],
      ['GeoLite2-Country', false],
    ] as const) {
      test(`says that ${type} has ${expected ? '' : 'no '}cities`, (t) => {
        const file = fileFor(t)
        writeCountryDatabase(file, {}, type)
        assert.equal(hasCities(file), expected)
      })
    }

    test('says that the bundled one has no cities', () => assert.equal(hasCities(undefined), false))

    test('rejects a file that is missing or no database', async (t) => {
      const folder = createFolder()
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      const file = path.join(folder, 'none.mmdb')
      await assert.rejects(openPlaces(file), { code: 'ENOENT' })
      for (const content of ['', 'no database', 'x'.repeat(100_000)]) {
        writeFileSync(file, content)
        await assert.rejects(openPlaces(file))
      }
    })
  })
})
