import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'
import { createDomain, createLink } from './create.ts'

onEachEngine('the options of a link at a visit', (at) => {
  const leadsTo = async (path: string) => (await visit(at.service.port, path)).headers.location

  test('query merge adds the query of the visitor', async () => {
    await createLink(at.api, { key: 'merge', url: 'https://a.example/?x=1&y=2#end' })
    assert.equal(await leadsTo('/merge?y=3'), 'https://a.example/?x=1&y=3#end')
  })

  test('query replace puts it in the place of the own one, but keeps the UTM values', async () => {
    const url = 'https://a.example/?x=1&y=2#end'
    await createLink(at.api, { key: 'replace', url, query: 'replace', utm_source: 's' })
    assert.equal(await leadsTo('/replace?y=3'), 'https://a.example/?utm_source=s&y=3#end')
    assert.equal(await leadsTo('/replace'), 'https://a.example/?x=1&y=2&utm_source=s#end')
    assert.equal(await leadsTo('/replace?qr=1'), 'https://a.example/?x=1&y=2&utm_source=s#end')
  })

  test('query drop leaves it out', async () => {
    await createLink(at.api, { key: 'drop', url: 'https://a.example/?x=1', query: 'drop' })
    assert.equal(await leadsTo('/drop?x=2&y=3'), 'https://a.example/?x=1')
  })

  test('before active_from the link leads nowhere, from then on to its destination', async () => {
    const { id } = await createLink(at.api, { key: 'soon', active_from: '2100-05-01T00:00:00Z' })
    const early = await visit(at.service.port, '/soon')
    assert.equal(early.status, 404)
    assert.match(early.body, /This link is not active yet/)
    assert.match(early.body, /1\u00a0May 2100/)
    await at.api.patch(`/links/${id}/options`, { active_from: '2020-05-01T00:00:00Z' })
    assert.equal((await visit(at.service.port, '/soon')).status, 302)
  })

  test('before active_from the not_found_url of the domain gets the visitors', async () => {
    const domain = 'soon.localhost'
    await createDomain(at.api, { domain, not_found_url: 'https://a.example/none' })
    await createLink(at.api, { domain, key: 'soon', active_from: '2100-05-01T00:00:00Z' })
    const early = await visit(at.service.port, '/soon', { host: domain })
    assert.equal(early.headers.location, 'https://a.example/none')
  })
})
