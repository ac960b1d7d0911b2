import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { createFolder, SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'
import { writeCountryDatabase } from './click/country-database.ts'
import { createLink } from './create.ts'

/** Every public address is there. */
const SAN_DIEGO = {
  city: { names: { en: 'San Diego' } },
  country: { iso_code: 'US' },
  subdivisions: [{ iso_code: 'CA', names: { en: 'California' } }],
}

describe('a service with a database of cities', () => {
  let service: Service
  before(async () => {
    const file = path.join(createFolder(), 'cities.mmdb')
    writeCountryDatabase(file, SAN_DIEGO, 'GeoLite2-City')
    service = await startService(SQLITE, {
      TERSE_COUNTRY_DATABASE: file,
      TERSE_TRUST_PROXY: '127.0.0.1',
    })
  })
  after(() => service.stop())

  test('sends visitors by their region and city', async () => {
    const api = await service.api()
    const { id, key } = await createLink(api, { url: 'https://example.com/web' })
    const rules = [
      { when: { city: ['san diego'], region: ['US-CA'] }, then: { url: 'https://example.com/sd' } },
    ]
    expectStatus(await api.put(`/links/${id}/rules`, { rules }), 200)
    const leadsTo = async (address: string) =>
      (await visit(service.port, `/${key}`, { headers: { 'x-forwarded-for': address } })).headers
        .location
    assert.equal(await leadsTo('198.51.100.7'), 'https://example.com/sd')
    assert.equal(await leadsTo('10.0.0.1'), 'https://example.com/web')
    const explained = await api.post(`/links/${id}/explain`, { city: 'San Diego', region: 'US-TX' })
    assert.equal(expectStatus(explained, 200).body.location, 'https://example.com/web')
  })
})
