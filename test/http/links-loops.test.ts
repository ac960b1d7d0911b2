import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, DESTINATION_FIELDS, postLink, showLink } from '../support/links.ts'
import { onSqlite } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1'

const here = (key: string, host = 'localhost') => `https://${host}/${key}`

async function claimedHosts(api: Api): Promise<string[]> {
  const { body } = expectStatus(await api.get('/domains'), 200)
  return body.data.map((domain: { domain: string }) => domain.domain)
}

onSqlite('a destination that leads back to its link', (stage) => {
  test('returns 422 in every field for the link’s own address, in every spelling', async () => {
    const { port } = stage.service
    for (const field of DESTINATION_FIELDS) {
      for (const url of [
        'https://localhost/itself',
        `http://localhost:${port}/itself?a=1#b`,
        `http://127.0.0.1:${port}/itself`,
        'https://LOCALHOST/ITSELF',
        'https://localhost./itself/',
        'https://localhost/%69tself',
      ]) {
        expectInvalid(await postLink(stage.api, { key: 'itself', [field]: url }), field)
      }
    }
  })

  test('returns 422 for a link on the domain that it would claim, and claims nothing', async () => {
    const domain = 'itself.localhost'
    expectInvalid(await postLink(stage.api, { domain, key: 'x', url: here('x', domain) }), 'url')
    assert.ok(!(await claimedHosts(stage.api)).includes(domain))
  })

  test('returns 422 for a link that leads back through others of the workspace', async () => {
    await createLink(stage.api, { key: 'hop-1', domain: 'hop.localhost', url: here('hop-2') })
    await createLink(stage.api, { key: 'hop-2', ios: here('hop-3') })
    const url = here('Hop-1', 'hop.localhost')
    expectInvalid(await postLink(stage.api, { key: 'hop-3', url }), 'url')
    await createLink(stage.api, { key: 'hop-4', url })
  })

  test('returns 422 for an update on all fields at once, and keeps the link', async () => {
    const { id } = await createLink(stage.api, { key: 'updated' })
    await createLink(stage.api, { key: 'to-updated', url: here('updated') })
    for (const key of ['updated', 'to-updated']) {
      const loops = Object.fromEntries(DESTINATION_FIELDS.map((field) => [field, here(key)]))
      expectInvalid(await stage.api.patch(`/links/${id}`, loops), ...DESTINATION_FIELDS)
      expectInvalid(
        await stage.api.put(`/links/${id}`, { ...loops, domain: 'localhost' }),
        ...DESTINATION_FIELDS,
      )
    }
    assert.equal((await showLink(stage.api, id)).url, 'https://example.com/')
  })

  test('returns 422 when the link moves to the address of its destination', async () => {
    const link = await createLink(stage.api, {
      key: 'moves',
      url: here('moves', 'moved.localhost'),
    })
    const moved = await stage.api.patch(`/links/${link.id}`, { domain: 'moved.localhost' })
    expectInvalid(moved, 'url')
    assert.ok(!(await claimedHosts(stage.api)).includes('moved.localhost'))
    const renamed = await createLink(stage.api, { key: 'old-name', url: here('new-name') })
    expectInvalid(await stage.api.patch(`/links/${renamed.id}`, { key: 'new-name' }), 'url')
    expectStatus(await stage.api.patch(`/links/${renamed.id}`, { key: 'other-name' }), 200)
  })

  test('returns 201 for other short links, keys without a link, and the dashboard', async () => {
    const other = await stage.service.api('other')
    await createLink(other, { domain: 'other.localhost', key: 'theirs' })
    await createLink(stage.api, { domain: 'pending.example.com', key: 'pending' })
    for (const url of [
      here('theirs', 'other.localhost'),
      here('pending', 'pending.example.com'),
      here('no-link-yet'),
      here('app/links'),
      'https://localhost/',
      'https://localhost:8443/x',
    ]) {
      await createLink(stage.api, { url })
    }
  })

  test('returns 201 where only a link of another workspace leads back', async () => {
    const other = await stage.service.api('stranger')
    await createLink(other, { key: 'strange', url: here('mine') })
    await createLink(stage.api, { key: 'mine', url: here('strange') })
    const { id } = await createLink(stage.api, { key: 'alone' })
    await createLink(other, { key: 'to-alone', url: here('alone') })
    expectStatus(await stage.api.patch(`/links/${id}`, { url: here('to-alone') }), 200)
    // What loops already can be changed otherwise.
    expectStatus(await stage.api.patch(`/links/${id}`, { tags: ['kept'] }), 200)
  })

  test('shows 508 to visitors, and counts no click', async () => {
    const { port } = stage.service
    const other = await stage.service.api('circle')
    await createLink(stage.api, { key: 'before', url: here('circle-1') })
    const link = await createLink(stage.api, { key: 'circle-1', url: here('circle-2') })
    await createLink(other, { key: 'circle-2', url: here('circle-1') })
    for (const path of ['/circle-1', '/circle-2?a=1', '/before']) {
      const answer = await visit(port, path)
      assert.equal(answer.status, 508, path)
      assert.match(answer.body, /leads in circles/)
      assert.equal(answer.headers.location, undefined)
    }
    // A click that is counted shows that the others are not.
    await createLink(stage.api, { key: 'counted' })
    await visit(port, '/counted')
    await eventually(async () => {
      const { body } = await stage.api.get('/clicks')
      assert.equal(body.total.clicks, 1)
    })
    assert.equal((await showLink(stage.api, link.id)).clicks, 0)
  })

  test('shows 508 only to the visitors whom it would send in circles', async () => {
    const { port } = stage.service
    const other = await stage.service.api('devices')
    await createLink(stage.api, { key: 'ios-only', ios: here('ios-back') })
    await createLink(other, { key: 'ios-back', url: here('ios-only') })
    const asPhone = { headers: { 'user-agent': IPHONE } }
    assert.equal((await visit(port, '/ios-only')).status, 302)
    assert.equal((await visit(port, '/ios-back')).status, 302)
    assert.equal((await visit(port, '/ios-only', asPhone)).status, 508)
  })

  test('redirects along a chain that ends, also at a link with a password', async () => {
    const { port } = stage.service
    for (let step = 0; step < 12; step += 1) {
      const url = step === 0 ? 'https://example.com/end' : here(`chain-${step - 1}`)
      await createLink(stage.api, { key: `chain-${step}`, url })
    }
    const answer = await visit(port, '/chain-11')
    assert.deepEqual([answer.status, answer.headers.location], [302, here('chain-10')])

    const other = await stage.service.api('locked')
    await createLink(stage.api, { key: 'to-lock', url: here('lock') })
    await createLink(other, { key: 'lock', url: here('to-lock'), password: 'open sesame' })
    assert.equal((await visit(port, '/to-lock')).status, 302)
    assert.equal((await visit(port, '/lock')).status, 200)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'password=open+sesame'
    assert.equal((await visit(port, '/lock', { method: 'POST', headers, body })).status, 508)
  })

  test('shows 508 across domains, also of fallback addresses and domains that came later', async () => {
    const { port } = stage.service
    await createLink(stage.api, { key: 'across', url: here('back', 'later.localhost') })
    assert.equal((await visit(port, '/across')).status, 302)
    const other = await stage.service.api('later')
    await createLink(other, { domain: 'later.localhost', key: 'back', url: here('across') })
    const later = { host: 'later.localhost' }
    await eventually(async () => assert.equal((await visit(port, '/across')).status, 508))
    await eventually(async () => assert.equal((await visit(port, '/back', later)).status, 508))

    const not_found_url = here('missing', 'later.localhost')
    const { body } = expectStatus(await other.get('/domains'), 200)
    expectStatus(await other.patch(`/domains/${body.data[0].id}`, { not_found_url }), 200)
    await eventually(async () => assert.equal((await visit(port, '/none', later)).status, 508))
    await createLink(other, { domain: 'later.localhost', key: 'missing' })
    await eventually(async () => {
      const answer = await visit(port, '/none', later)
      assert.deepEqual([answer.status, answer.headers.location], [302, not_found_url])
    })
  })
})
