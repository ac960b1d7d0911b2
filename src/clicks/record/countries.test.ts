import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import { writeCountryDatabase } from '../../../test/redirect/click/country-database.ts'
import { createFolder } from '../../../test/support/engines.ts'
import { type Countries, openCountries } from './countries.ts'

describe('the country of an address', () => {
  let bundled: Countries
  before(async () => {
    bundled = await openCountries(undefined)
  })

  // Networks that have been where they are for decades, of registries and universities.
  for (const [address, country] of [
    ['193.0.6.139', 'NL'],
    ['202.12.27.33', 'JP'],
    ['200.160.2.3', 'BR'],
    ['133.11.0.1', 'JP'],
    ['5.9.1.1', 'DE'],
    ['2a01:4f8::1', 'DE'],
    ['2a01:04F8:0:0::1', 'DE'],
  ] as const) {
    test(`is ${country} for ${address}`, () => assert.equal(bundled(address), country))
  }

  const NOBODYS = [
    ...['127.0.0.1', '::1', '0:0:0:0:0:0:0:1', '10.1.2.3', '192.168.1.1', '172.20.0.1'],
    ...['169.254.1.1', '100.64.0.1', 'fe80::1', 'fd00::1'],
  ]
  for (const address of [...NOBODYS, '', 'no address', '999.1.1.1', '[::1]']) {
    test(`is none for ${address || 'an empty text'}`, () => assert.equal(bundled(address), ''))
  }

  describe('in a database of one’s own', () => {
    const OWN: readonly { name: string; entry: object; country: string }[] = [
      { name: 'MaxMind’s or DB-IP’s', entry: { country: { iso_code: 'CH' } }, country: 'CH' },
      { name: 'one with the code alone', entry: { country_code: 'CH' }, country: 'CH' },
      { name: 'one of cities only', entry: { city: { geoname_id: 1 } }, country: '' },
      { name: 'one with other codes', entry: { country_code: 'Switzerland' }, country: '' },
      { name: 'one with other types', entry: { country: 'CH' }, country: '' },
    ]
    for (const { name, entry, country } of OWN) {
      test(`is ${country || 'none'} in ${name}`, async (t) => {
        const folder = createFolder()
        t.after(() => rmSync(folder, { recursive: true, force: true }))
        const file = path.join(folder, 'own.mmdb')
        writeCountryDatabase(file, entry)
        const countries = await openCountries(file)
        assert.equal(countries('192.0.2.1'), country)
        assert.equal(countries('10.0.0.1'), '', 'a private address, whatever the database says')
      })
    }

    test('is looked for in no file that is none', async (t) => {
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
