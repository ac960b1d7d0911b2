import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { passwordVault } from '../../src/domain/links/password-vault.ts'
import { systemRandom } from '../../src/lib/random.ts'

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const PREFIX = 'sealed_'

describe('The password vault', () => {
  const key = randomBytes(32)
  const vault = passwordVault(key, systemRandom)
  const text = 'correct horse — pferd ä'
  let sealed: string
  before(async () => {
    sealed = await vault.seal(text)
  })

  test('verifies the text that was sealed, and no other', async () => {
    assert.equal(await vault.verify(sealed, text), true)
    for (const other of ['', 'correct horse', text.toUpperCase(), `${text} `, sealed]) {
      assert.equal(await vault.verify(sealed, other), false, other)
    }
  })

  test('takes a text for the same in either normal form of Unicode', async () => {
    assert.equal(await vault.verify(sealed, text.normalize('NFD')), true)
  })

  test('shows neither the text nor anything that repeats', async () => {
    assert.match(sealed, /^sealed_[A-Za-z0-9_-]{102}$/)
    assert.ok(!Buffer.from(sealed.slice(PREFIX.length), 'base64url').includes(text))
    assert.notEqual(await vault.seal(text), sealed)
  })

  test('refuses a sealed string that was altered at any byte', () => {
    const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url')
    assert.ok(vault.isSealed(sealed))
    for (const at of bytes.keys()) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const altered = Buffer.from(bytes)
        altered[at] = (altered[at] ?? 0) ^ mask
        assert.ok(!vault.isSealed(PREFIX + altered.toString('base64url')), `byte ${at}`)
      }
    }
  })

  test('refuses a sealed string that was altered at any character', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      for (const character of BASE64URL) {
        if (sealed[at] === character) continue
        const altered = sealed.slice(0, at) + character + sealed.slice(at + 1)
        assert.ok(!vault.isSealed(altered), `character ${at}: ${character}`)
      }
    }
  })

  test('refuses what is longer, shorter or something else', () => {
    const others = [
      '',
      PREFIX,
      sealed.slice(0, -1),
      `${sealed}A`,
      `${sealed}=`,
      `${sealed} `,
      ` ${sealed}`,
      sealed.slice(PREFIX.length),
      'sealed_secret',
    ]
    for (const other of others) assert.ok(!vault.isSealed(other), JSON.stringify(other))
  })

  test('refuses what was sealed under another key', async () => {
    const other = passwordVault(randomBytes(32), systemRandom)
    assert.equal(other.isSealed(sealed), false)
    assert.equal(await other.verify(sealed, text), false)
  })

  test('opens what it sealed before, with the same key in another process', async () => {
    assert.ok(passwordVault(Buffer.from(key), systemRandom).isSealed(sealed))
  })
})
