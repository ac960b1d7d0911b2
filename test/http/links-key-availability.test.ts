import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { variantOf } from '../support/key-variants.ts'
import { createLink } from '../support/links.ts'
import { onSqlite } from '../support/on-each-engine.ts'

const GENERATED = /^[2-9a-hjkmnp-z]{7}$/

onSqlite('GET /api/v1/links/key-availability', (stage) => {
  async function check(query: Record<string, string>, api: Api = stage.api) {
    const path = `/links/key-availability?${new URLSearchParams(query)}`
    const { suggestion, ...rest } = expectStatus(await api.get(path), 200).body
    assert.match(suggestion, GENERATED)
    return rest
  }

  test('says that a key is free, and creates nothing', async () => {
    const free = {
      domain: 'new.acme.test',
      key: 'spring',
      available: true,
      reason: null,
      message: null,
      fault: null,
    }
    assert.deepEqual(await check({ domain: 'new.acme.test', key: 'spring' }), free)
    assert.deepEqual(await check({ domain: 'localhost', key: 'spring' }), {
      ...free,
      domain: 'localhost',
    })
    assert.equal(expectStatus(await stage.api.get('/domains'), 200).body.meta.total, 0)
  })

  test('suggests a key without being asked for one', async () => {
    assert.deepEqual(await check({ domain: 'localhost' }), {
      domain: 'localhost',
      key: null,
      available: null,
      reason: null,
      message: null,
      fault: null,
    })
  })

  for (const [key, reason] of [
    ['taken', 'taken'],
    ['api/x', 'reserved'],
    ['APP', 'reserved'],
    ['', 'invalid'],
    ['a b', 'invalid'],
    ['x'.repeat(191), 'invalid'],
  ] as const) {
    test(`answers ${reason} for ${JSON.stringify(key).slice(0, 20)}, in the words of a create`, async () => {
      const link = { domain: 'localhost', url: 'https://example.com/', key }
      if (key === 'taken') await createLink(stage.api, { key })
      const found = await check({ domain: 'localhost', key })
      assert.deepEqual([found.available, found.reason], [false, reason])
      const refused = await stage.api.post('/links', link)
      expectInvalid(refused, 'key')
      if (key !== '') {
        assert.deepEqual(refused.body.errors.key, [found.message])
        assert.deepEqual(refused.body.faults.key, [found.fault])
      }
    })
  }

  test('finds a key in its normal form, and tells letter cases apart', async () => {
    await createLink(stage.api, { key: 'Été' })
    const typed = await check({ domain: 'LOCALHOST', key: 'E\u0301te\u0301' })
    assert.deepEqual([typed.domain, typed.key, typed.reason], ['localhost', 'Été', 'taken'])
    assert.equal((await check({ domain: 'localhost', key: 'été' })).available, true)
  })

  test('refuses a key that has 16 variants', async () => {
    for (let number = 0; number < 16; number += 1) {
      await createLink(stage.api, { key: variantOf('crowd', number) })
    }
    const found = await check({ domain: 'localhost', key: variantOf('crowd', 16) })
    assert.deepEqual([found.available, found.reason], [false, 'too_many_variants'])
  })

  test('tells nothing of the keys of another workspace on a domain that both have added', async () => {
    const other = await stage.service.api('other')
    await createLink(other, { domain: 'both.acme.test', key: 'theirs' })
    const found = await check({ domain: 'both.acme.test', key: 'theirs' })
    assert.equal(found.available, true)
  })

  test('returns 422 on a domain that the workspace cannot have, and on a missing one', async () => {
    expectInvalid(await stage.api.get('/links/key-availability?domain=co.uk&key=a'), 'domain')
    expectInvalid(await stage.api.get('/links/key-availability?key=a'), 'domain')
    expectInvalid(await stage.api.get('/links/key-availability?domain=a.test&kee=a'), 'kee')
  })
})
