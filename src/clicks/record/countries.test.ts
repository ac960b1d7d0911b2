import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import { writeCountryDatabase } from '../../../test/redirect/click/country-database.ts'
import { createFolder } from '../../../test/support/engines.ts'
import { type Countries, openCountries } from './countries.ts'

describe('openCountries', () => {
  let bundled: Countries
  before(async () => {
    bundled = await openCountries(undefined)
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
      assert.equal(bundled(address), country))
  }

  const PRIVATE = [
    ...['127.0.0.1', '::1', '0:0:0:0:0:0:0:1', '10.1.2.3', '192.168.1.1', '172.20.0.1'],
    ...['169.254.1.1', '100.64.0.1', 'fe80::1', 'fd00::1'],
  ]
  for (const address of [...PRIVATE, '', 'no address', '999.1.1.1', '[::1]']) {
    test(`returns no country for ${address || 'an empty text'}`, () =>
      assert.equal(bundled(address), ''))
  }

  describe('with a database of the operator’s', () => {
    const OWN: readonly { name: string; entry: object; country: string }[] = [
      {
        name: 'a database of MaxMind or DB-IP',
        entry: { country: { iso_code: 'CH' } },
        country: 'CH',
      },
      { name: 'a database with only the code', entry: { country_code: 'CH' }, country: 'CH' },
      { name: 'a database of cities', entry: { city: { geoname_id: 1 } }, country: '' },
      {
        name: 'a database whose code is not ISO 3166',
        entry: { country_code: 'Switzerland' },
        country: '',
      },
      { name: 'a database with a value of another type', entry: { country: 'CH' }, country: '' },
    ]
    for (const { name, entry, country } of OWN) {
      test(`returns ${country || 'no country'} from ${name}`, async (t) => {
        const folder = createFolder()
        t.after(() => rmSync(folder, { recursive: true, force: true }))
        const file = path.join(folder, 'own.mmdb')
        writeCountryDatabase(file, entry)
        const countries = await openCountries(file)
        assert.equal(countries('192.0.2.1'), country)
        assert.equal(countries('10.0.0.1'), '', 'no country for a private address')
      })
    }

    test('rejects a file that is missing or no database', async (t) => {
      const folder = createFolder()
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      const file = path.join(folder, 'none.mmdb')
      await assert.rejects(openCountries(file), { code: 'ENOENT' })
      for (const content of ['', 'no database', 'x'.repeat(100_000)]) {
        writeFileSync(file, content)
        await assert.rejects(openCountries(file))
      }
    })
  })
})
