import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SecureContext } from 'node:tls'
import type { Certificate } from '../../src/domain/certificates/certificate.ts'
import { certificateChange } from '../../src/domain/changes/change.ts'
import { SecureContexts } from '../../src/tls/secure-contexts.ts'
import { createTestAuthority } from '../support/test-authority.ts'

const HOST = 'links.acme.test'
/** Each takes more than so much where it is kept. */
const CONTEXT_KIB_MIN = 12
const CONTEXTS = 2_000
const authority = createTestAuthority()

function certificateFor(host: string): Certificate {
  const { chainPem, keyPem } = authority.issue(host)
  return {
    host,
    chainPem,
    keyPem,
    notBefore: 0,
    notAfter: 1,
    directory: '',
    ariId: null,
    renewalWindow: null,
  }
}

type Answer = Certificate | undefined | Error

/** A store that answers when the test says so. */
function setUp() {
  const asked: { host: string; answer: (answer: Answer) => void }[] = []
  const errors: unknown[] = []
  const contexts = new SecureContexts({
    find: (host) =>
      new Promise((resolve, reject) => {
        asked.push({
          host,
          answer: (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)),
        })
      }),
    onError: (error) => errors.push(error),
  })
  /** Answers the question that was asked last. */
  async function answer(value: Answer): Promise<void> {
    const question = asked.at(-1)
    assert.ok(question)
    question.answer(value)
    await new Promise((resolve) => setImmediate(resolve))
  }
  async function load(value: Answer): Promise<SecureContext | undefined> {
    const found = contexts.get(HOST)
    await answer(value)
    return found
  }
  const change = () => contexts.apply([certificateChange(HOST)])
  return { contexts, asked, errors, answer, load, change }
}

describe('the certificates in memory', () => {
  test('are loaded once for all who ask meanwhile, and then at hand', async () => {
    const { contexts, asked, answer } = setUp()
    const both = [contexts.get(HOST), contexts.get(HOST)]
    await answer(certificateFor(HOST))
    const [first, second] = await Promise.all(both)
    assert.ok(first)
    assert.equal(first, second)
    assert.equal(contexts.get(HOST), first)
    assert.equal(asked.length, 1)
  })

  test('are shown until their successors are loaded', async () => {
    const { contexts, answer, load, change } = setUp()
    const old = await load(certificateFor(HOST))
    change()
    assert.equal(contexts.get(HOST), old)
    await answer(certificateFor(HOST))
    const renewed = contexts.get(HOST)
    assert.ok(renewed && !(renewed instanceof Promise))
    assert.notEqual(renewed, old)
  })

  test('are shown while the store is away, which is told once, and asked for again', async () => {
    const { contexts, asked, errors, answer, load, change } = setUp()
    const old = await load(certificateFor(HOST))
    change()
    await answer(new Error('away'))
    change()
    await answer(new Error('away'))
    assert.equal(contexts.get(HOST), old)
    assert.equal(errors.length, 1)
    change()
    await answer(certificateFor(HOST))
    assert.notEqual(contexts.get(HOST), old)
    assert.equal(asked.length, 4)
  })

  test('go when they are removed, and come again', async () => {
    const { contexts, asked, answer, load, change } = setUp()
    await load(certificateFor(HOST))
    change()
    await answer(undefined)
    assert.equal(contexts.get(HOST), undefined)
    assert.equal(contexts.get(HOST), undefined)
    assert.equal(asked.length, 2)
    change()
    const found = contexts.get(HOST)
    await answer(certificateFor(HOST))
    assert.ok(await found)
  })

  test('are not kept from a load that began before they were changed', async () => {
    const { contexts, asked, load, change } = setUp()
    const early = contexts.get(HOST)
    change()
    const renewed = await load(certificateFor(HOST))
    asked[0]?.answer(certificateFor(HOST))
    assert.ok(await early)
    assert.equal(contexts.get(HOST), renewed)
  })

  test('are all looked at anew when a node may have missed a change', async () => {
    const { contexts, asked, answer, load } = setUp()
    const old = await load(certificateFor(HOST))
    contexts.forgetAll()
    assert.equal(contexts.get(HOST), old)
    assert.equal(asked.length, 2)
    await answer(certificateFor(HOST))
    assert.notEqual(contexts.get(HOST), old)
  })

  test('take no more memory than their number allows, however many come and go', async () => {
    const certificate = certificateFor(HOST)
    const contexts = new SecureContexts({
      find: async () => certificate,
      onError: (error) => assert.fail(String(error)),
      countMax: 10,
    })
    const load = async (hosts: number) => {
      for (let nth = 0; nth < hosts; nth += 1) {
        assert.ok(await contexts.get(`links-${nth}.acme.test`))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await load(200)
    const before = process.memoryUsage.rss()
    await load(CONTEXTS)
    const grownKib = (process.memoryUsage.rss() - before) / 1024
    assert.ok(grownKib < CONTEXTS * CONTEXT_KIB_MIN, `${grownKib} KiB`)
  })

  test('fail the handshake, not the process, where a key is damaged', async () => {
    const { contexts, errors, answer } = setUp()
    const found = Promise.resolve(contexts.get(HOST))
    const damaged = { ...certificateFor(HOST), keyPem: 'damaged' }
    await Promise.all([assert.rejects(found), answer(damaged)])
    assert.equal(errors.length, 1)
  })
})
