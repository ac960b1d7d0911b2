import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { createLink, postLink, showLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'

const TEXT = 'correct horse battery staple'

onEachEngine('The password of a link', (stage) => {
  test('comes back as one opaque string, never as the text or something made from it alone', async () => {
    const { id, password } = await createLink(stage.api, { password: TEXT })
    assert.match(password, /^[A-Za-z0-9_-]{60,}$/)
    const bytes = Buffer.from(password.replace('sealed_', ''), 'base64url').toString('latin1')
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

  test('stays, to the letter, through updates that leave it out or send back what was shown', async () => {
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

  test('changes with a new text, goes with null, and can be set on a link without one', async () => {
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

  test('cannot be copied from another link, because what is shown is no text', async () => {
    const { password } = await createLink(stage.api, { password: TEXT })
    expectInvalid(await postLink(stage.api, { password }), 'password')
    const { id } = await createLink(stage.api, { password: 'another' })
    expectInvalid(await stage.api.patch(`/links/${id}`, { password }), 'password')
  })

  test('may be a text that only looks like a sealed one', async () => {
    const text = `sealed_${'A'.repeat(102)}`
    const { password } = await createLink(stage.api, { password: text })
    assert.notEqual(password, text)
  })

  test('is 1 to 512 characters of any script', async () => {
    for (const password of ['p', 'päßwörd 春', 'p'.repeat(512)]) {
      await createLink(stage.api, { password })
    }
    for (const password of ['', 'p'.repeat(513), 'a\nb', 'a\ud800', 1234, true, ['a']]) {
      expectInvalid(await postLink(stage.api, { password }), 'password')
    }
  })
})
