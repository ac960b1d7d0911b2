import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { variantOf } from '../support/key-variants.ts'
import { createLink, postLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'

const VARIANTS_MAX = 16

onEachEngine('keys that differ only by letter case', (stage) => {
  const destinationOf = (key: string) => `https://example.com/${key}`

  async function createVariants(key: string, count: number) {
    const links = []
    for (let number = 0; number < count; number += 1) {
      const variant = variantOf(key, number)
      links.push(await createLink(stage.api, { key: variant, url: destinationOf(variant) }))
    }
    return links
  }

  const visited = async (key: string) => {
    const { headers, status } = await visit(stage.service.port, `/${key}`)
    return headers.location ?? status
  }

  test('are accepted up to 16 of one key, each with its own destination', async () => {
    for (const { key } of await createVariants('create', VARIANTS_MAX)) {
      assert.equal(await visited(key), destinationOf(key))
    }
    const next = variantOf('create', VARIANTS_MAX)
    assert.equal(await visited(next), 404)
    expectInvalid(await postLink(stage.api, { key: next }), 'key')
    assert.equal(await visited(next), 404)
    await createLink(stage.api, { key: next, domain: 'elsewhere.localhost' })
  })

  test('count towards the limit when the key of a link is updated', async () => {
    const [first] = await createVariants('update', VARIANTS_MAX)
    const next = variantOf('update', VARIANTS_MAX)
    const other = await createLink(stage.api)
    expectInvalid(await stage.api.patch(`/links/${other.id}`, { key: next }), 'key')
    // One of the 16 may change its letter case and its other fields.
    expectStatus(await stage.api.patch(`/links/${first.id}`, { key: next }), 200)
    expectStatus(await stage.api.patch(`/links/${first.id}`, { tags: ['a'] }), 200)
    assert.equal(await visited(next), destinationOf('update'))
    assert.equal(await visited('update'), 404)
    expectStatus(await stage.api.patch(`/links/${first.id}`, { key: 'away' }), 200)
    expectStatus(await stage.api.patch(`/links/${other.id}`, { key: next }), 200)
  })

  test('count towards the limit when a link moves to another domain', async () => {
    await createVariants('domain', VARIANTS_MAX)
    const key = variantOf('domain', VARIANTS_MAX)
    const { id } = await createLink(stage.api, { domain: 'before.localhost', key })
    expectInvalid(await stage.api.patch(`/links/${id}`, { domain: 'localhost' }), 'key')
  })

  test('redirect when an earlier release created more than 16', async () => {
    const { store } = stage.service.instance
    const first = await createLink(stage.api, { key: 'legacy', url: destinationOf('legacy') })
    const link = await store.read.links.findById(first.workspace_id, first.id)
    assert.ok(link !== undefined)
    const keys = Array.from({ length: 40 }, (_, number) => variantOf('legacy', number))
    await store.write(async (stores) => {
      for (const key of keys.slice(1)) {
        const { seq, clicks, last_click, ...fields } = link
        await stores.links.insert({ ...fields, id: randomUUID(), key, url: destinationOf(key) })
      }
    })
    for (const key of keys) assert.equal(await visited(key), destinationOf(key))
    assert.equal(await visited(variantOf('legacy', keys.length)), 404)
    expectInvalid(await postLink(stage.api, { key: variantOf('legacy', keys.length) }), 'key')
  })
})
