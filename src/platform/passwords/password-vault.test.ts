import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { directHasher } from '../../../test/support/direct-hasher.ts'
import { systemRandom } from '../crypto/random.ts'
import { sealing } from '../crypto/sealing.ts'
import { FairQueue } from '../work/fair-queue.ts'
import { argon2id } from './argon2id.ts'
import { PasswordHasher } from './password-hasher.ts'
import { passwordVault } from './password-vault.ts'

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const PREFIX = 'sealed2_'
const USE = { boundTo: 'link one', owner: 'workspace' }

describe('passwordVault', () => {
  const key = randomBytes(32)
  const vault = passwordVault(key, systemRandom, directHasher())
  const text = 'correct horse — pferd ä'
  let sealed: string
  /** A string sealed by an earlier release, which was not bound to a link. */
  let unbound: string
  before(async () => {
    sealed = await vault.seal(text, USE)
    const salt = randomBytes(16)
    const plain = Buffer.concat([salt, argon2id({ text, salt })])
    unbound = `sealed_${sealing(key, systemRandom).seal(plain).toString('base64url')}`
  })

  /** A vault that counts hashes instead of computing them. */
  function countingVault() {
    const counts = { hashes: 0 }
    const hasher = new PasswordHasher({
      queue: new FairQueue({
        work: 'hashes',
        concurrency: 1,
        waitingPerOwnerMax: 1,
        waitingMax: 1,
        deadlineMs: 1_000,
      }),
      async compute() {
        counts.hashes += 1
        return new Uint8Array(32)
      },
    })
    return { counts, vault: passwordVault(key, systemRandom, hasher) }
  }

  test('verifies the sealed text and no other', async () => {
    assert.equal(await vault.verify(sealed, text, USE), true)
    for (const other of ['', 'correct horse', text.toUpperCase(), `${text} `, sealed]) {
      assert.equal(await vault.verify(sealed, other, USE), false, other)
    }
  })

  test('verifies a sealed string only for its own link', async () => {
    assert.equal(await vault.verify(sealed, text, { ...USE, boundTo: 'link two' }), false)
    assert.equal(await vault.verify(sealed, text, { ...USE, boundTo: '' }), false)
  })

  test('verifies a string that an earlier release sealed without a link', async () => {
    assert.equal(await vault.verify(unbound, text, USE), true)
    assert.equal(await vault.verify(unbound, 'other', USE), false)
    const renamed = unbound.replace('sealed_', PREFIX)
    assert.equal(await vault.verify(renamed, text, USE), false)
    assert.equal(await vault.verify(sealed.replace(PREFIX, 'sealed_'), text, USE), false)
  })

  test('treats both Unicode normal forms of a text as equal', async () => {
    assert.equal(await vault.verify(sealed, text.normalize('NFD'), USE), true)
  })

  test('seals without exposing the text and without repeating a string', async () => {
    assert.match(sealed, /^sealed2_[A-Za-z0-9_-]{102}$/)
    assert.ok(!Buffer.from(sealed.slice(PREFIX.length), 'base64url').includes(text))
    assert.notEqual(await vault.seal(text, USE), sealed)
  })

  test('computes no hash for a sealed string with any byte altered', async () => {
    const { vault, counts } = countingVault()
    const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url')
    for (const at of bytes.keys()) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const altered = Buffer.from(bytes)
        altered[at] = (altered[at] ?? 0) ^ mask
        const string = PREFIX + altered.toString('base64url')
        assert.equal(await vault.verify(string, text, USE), false, `byte ${at}`)
      }
    }
    assert.equal(counts.hashes, 0)
    await vault.verify(sealed, text, USE)
    assert.equal(counts.hashes, 1)
  })

  test('computes no hash for a sealed string with any character altered', async () => {
    const { vault, counts } = countingVault()
    for (const original of [sealed, unbound]) {
      for (let at = 0; at < original.length; at += 1) {
        for (const character of BASE64URL) {
          if (original[at] === character) continue
          const altered = original.slice(0, at) + character + original.slice(at + 1)
          await vault.verify(altered, text, USE)
        }
      }
    }
    assert.equal(counts.hashes, 0)
  })

  test('calls back before it hashes, and does not hash when the callback throws', async () => {
    const { vault, counts } = countingVault()
    const onTurn = () => {
      throw new Error('no')
    }
    await assert.rejects(vault.verify(sealed, text, { ...USE, onTurn }), { message: 'no' })
    assert.equal(counts.hashes, 0)
  })

  test('recognises a sealed string of any vault and any link', async () => {
    const other = passwordVault(randomBytes(32), systemRandom, directHasher())
    for (const string of [sealed, unbound, await other.seal(text, USE)]) {
      assert.ok(vault.isSealed(string), string)
    }
  })

  test('treats strings of any other form as plain text', () => {
    const others = [
      '',
      PREFIX,
      'sealed_',
      sealed.slice(0, -1),
      `${sealed}A`,
      `${sealed}=`,
      `${sealed} `,
      ` ${sealed}`,
      sealed.slice(PREFIX.length),
      unbound.slice(0, -1),
      `${unbound}A`,
      'sealed_secret',
      'sealed2_secret',
    ]
    for (const other of others) assert.ok(!vault.isSealed(other), JSON.stringify(other))
  })

  test('refuses strings sealed under another key', async () => {
    const other = passwordVault(randomBytes(32), systemRandom, directHasher())
    assert.equal(await other.verify(sealed, text, USE), false)
    assert.equal(await other.verify(unbound, text, USE), false)
    assert.equal(other.isSealed(unbound), false)
  })

  test('verifies its strings in another process with the same key', async () => {
    const again = passwordVault(Buffer.from(key), systemRandom, directHasher())
    assert.equal(await again.verify(sealed, text, USE), true)
  })
})
