import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { sealing } from '../../src/platform/crypto/sealing.ts'
import { argon2id } from '../../src/platform/passwords/argon2id.ts'
import { linkChange } from '../../src/storage/changes.ts'
import { deriveKey } from '../../src/storage/instance-keys.ts'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, postLink, showLink } from '../support/links.ts'
import { onSqlite } from '../support/on-each-engine.ts'
import { openRealHasher } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const TEXT = 'correct horse battery staple'

onSqlite(
  'the password of a link',
  (stage) => {
    /** Returns the status that a visitor gets after entering the text. */
    async function enterPassword(path: string, host = 'localhost'): Promise<number | undefined> {
      const { status } = await visit(stage.service.port, path, {
        host,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ password: TEXT }).toString(),
      })
      return status
    }

    test('is returned as one opaque string that reveals neither the text nor its hash', async () => {
      const { id, password } = await createLink(stage.api, { password: TEXT })
      assert.match(password, /^[A-Za-z0-9_-]{60,}$/)
      const bytes = Buffer.from(password.replace('sealed2_', ''), 'base64url').toString('latin1')
      for (const readable of [password, bytes]) {
        for (const hint of [TEXT, 'correct', 'argon2']) assert.ok(!readable.includes(hint), hint)
      }
      assert.equal((await showLink(stage.api, id)).password, password)
      const { body } = expectStatus(await stage.api.get('/links'), 200)
      assert.ok(!JSON.stringify(body).includes(TEXT))
    })

    test('differs for the same text on another link', async () => {
      const links = [
        await createLink(stage.api, { password: TEXT }),
        await createLink(stage.api, { password: TEXT }),
      ]
      assert.notEqual(links[0].password, links[1].password)
    })

    test('stays unchanged through updates that omit it or send back the returned value', async () => {
      const { id, password } = await createLink(stage.api, { password: TEXT })
      const required = { domain: 'localhost', url: 'https://example.com/changed' }
      for (const body of [required, { ...required, password }, await showLink(stage.api, id)]) {
        assert.equal(
          expectStatus(await stage.api.put(`/links/${id}`, body), 200).body.password,
          password,
        )
      }
      for (const body of [{}, { password }]) {
        const updated = await stage.api.patch(`/links/${id}`, body)
        assert.equal(expectStatus(updated, 200).body.password, password)
      }
      assert.equal((await showLink(stage.api, id)).password, password)
    })

    test('is replaced by a new text, removed by null, and can be added to a link without one', async () => {
      const { id, password: first } = await createLink(stage.api)
      assert.equal(first, null)
      const shown: string[] = []
      for (const password of [TEXT, 'another', null]) {
        const { body } = expectStatus(await stage.api.patch(`/links/${id}`, { password }), 200)
        assert.equal((await showLink(stage.api, id)).password, body.password)
        shown.push(body.password)
      }
      assert.equal(new Set(shown).size, 3)
      assert.equal(shown[2], null)
    })

    test('cannot be copied from another link, because the returned value is not the text', async () => {
      const { password } = await createLink(stage.api, { password: TEXT })
      expectInvalid(await postLink(stage.api, { password }), 'password')
      const { id } = await createLink(stage.api, { password: 'another' })
      expectInvalid(await stage.api.patch(`/links/${id}`, { password }), 'password')
    })

    test('returns 422 for a text that has the form of a sealed password, even of another instance', async () => {
      const text = `sealed2_${'A'.repeat(102)}`
      expectInvalid(await postLink(stage.api, { password: text }), 'password')
      const { id, password } = await createLink(stage.api, { password: TEXT })
      expectInvalid(await stage.api.patch(`/links/${id}`, { password: text }), 'password')
      assert.equal((await showLink(stage.api, id)).password, password)
      for (const other of [`sealed_${'A'.repeat(102)}`, text.slice(0, -1)]) {
        const made = await createLink(stage.api, { password: other })
        assert.notEqual(made.password, other)
      }
    })

    test('of an earlier release stays valid when it is sent back', async () => {
      const { store, instanceKey } = stage.service.instance
      const salt = randomBytes(16)
      const plain = Buffer.concat([salt, argon2id({ text: TEXT, salt })])
      const box = sealing(deriveKey(instanceKey, 'link-password'), systemRandom)
      const password = `sealed_${box.seal(plain).toString('base64url')}`
      const made = await createLink(stage.api)
      await store.write(async (stores) => {
        const link = await stores.links.findById(made.workspace_id, made.id)
        assert.ok(link !== undefined)
        await stores.links.update({ ...link, password }, link)
        await stores.changes.append(linkChange(link.keyspace_id, link.key), link.updated_at)
      })
      expectStatus(
        await stage.api.put(`/links/${made.id}`, await showLink(stage.api, made.id)),
        200,
      )
      assert.equal((await showLink(stage.api, made.id)).password, password)
      expectInvalid(await postLink(stage.api, { password }), 'password')
      assert.equal(await enterPassword(`/${made.key}`), 303)
    })

    test('opens only its own link, even if the database has a copy of it on another', async () => {
      const { store } = stage.service.instance
      const from = await createLink(stage.api, { password: TEXT })
      const to = await createLink(stage.api)
      await store.write(async (stores) => {
        const link = await stores.links.findById(to.workspace_id, to.id)
        assert.ok(link !== undefined)
        await stores.links.update({ ...link, password: from.password }, link)
        await stores.changes.append(linkChange(link.keyspace_id, link.key), link.updated_at)
      })
      assert.equal(await enterPassword(`/${from.key}`), 303)
      assert.equal(await enterPassword(`/${to.key}`), 403)
    })

    test('still opens its link after the link’s key and domain have changed', async () => {
      const { id, password } = await createLink(stage.api, { password: TEXT })
      const moved = { domain: 'moved.localhost', key: 'moved', password }
      const { body } = expectStatus(await stage.api.patch(`/links/${id}`, moved), 200)
      assert.equal(body.password, password)
      assert.equal(await enterPassword('/moved', 'moved.localhost'), 303)
    })

    test('is 1 to 512 characters of any script', async () => {
      for (const password of ['p', 'päßwörd 春', 'p'.repeat(512)]) {
        await createLink(stage.api, { password })
      }
      for (const password of ['', 'p'.repeat(513), 'a\nb', 'a\ud800', 1234, true, ['a']]) {
        expectInvalid(await postLink(stage.api, { password }), 'password')
      }
    })
  },
  {},
  { openHasher: openRealHasher },
)
