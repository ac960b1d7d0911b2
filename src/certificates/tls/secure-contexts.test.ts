import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import type { SecureContext } from 'node:tls'
import { memoryWarmStart } from '../../../test/support/memory-warm-start.ts'
import { createTestAuthority } from '../../../test/support/test-authority.ts'
import { certificateChange } from '../../storage/changes.ts'
import type { WarmStart } from '../../storage/coherent-cache.ts'
import { KeyVault } from '../account-manager.ts'
import type { Certificate, SealedCertificate } from '../certificate.ts'
import { SecureContexts } from './secure-contexts.ts'

const HOST = 'links.acme.test'
/** Each context takes at least this much memory while it is cached. */
const CONTEXT_KIB_MIN = 12
const CONTEXTS = 800
const authority = createTestAuthority()
const vault = new KeyVault(randomBytes(32), randomBytes)
const otherVault = new KeyVault(randomBytes(32), randomBytes)

function open({ sealedKey, ...facts }: SealedCertificate): Certificate {
  return { ...facts, keyPem: vault.open(facts.host, sealedKey) }
}

function certificateFor(host: string, by = vault): SealedCertificate {
  const { chainPem, keyPem } = authority.issue(host)
  return {
    host,
    chainPem,
    sealedKey: by.seal(host, keyPem),
    notBefore: 0,
    notAfter: 1,
    directory: '',
    ariId: null,
    renewalWindow: null,
  }
}

type Answer = SealedCertificate | undefined | Error

/** A store whose answers the test controls. */
function setUp(copy?: WarmStart) {
  const reads: { host: string; answer: (answer: Answer) => void }[] = []
  const errors: unknown[] = []
  const unusable: string[] = []
  const contexts = new SecureContexts({
    find: (host) =>
      new Promise((resolve, reject) => {
        reads.push({
          host,
          answer: (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)),
        })
      }),
    open,
    warmStart: copy,
    onError: (error) => errors.push(error),
    onUnusable: (host) => unusable.push(host),
  })
  /** Answers the latest read of the store. */
  async function answer(value: Answer): Promise<void> {
    const question = reads.at(-1)
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
  return { contexts, reads, errors, unusable, answer, load, change }
}

describe('SecureContexts', () => {
  test('loads a certificate once for concurrent callers, and then serves it from the cache', async () => {
    const { contexts, reads, answer } = setUp()
    const both = [contexts.get(HOST), contexts.get(HOST)]
    await answer(certificateFor(HOST))
    const [first, second] = await Promise.all(both)
    assert.ok(first)
    assert.equal(first, second)
    assert.equal(contexts.get(HOST), first)
    assert.equal(reads.length, 1)
  })

  test('serves the old certificate until the new one is loaded', async () => {
    const { contexts, answer, load, change } = setUp()
    const old = await load(certificateFor(HOST))
    change()
    assert.equal(contexts.get(HOST), old)
    await answer(certificateFor(HOST))
    const renewed = contexts.get(HOST)
    assert.ok(renewed && !(renewed instanceof Promise))
    assert.notEqual(renewed, old)
  })

  test('serves the old certificate while the store is unavailable, reports that once, and reads again on the next change', async () => {
    const { contexts, reads, errors, answer, load, change } = setUp()
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
    assert.equal(reads.length, 4)
  })

  test('drops a removed certificate, and loads it again when it returns', async () => {
    const { contexts, reads, answer, load, change } = setUp()
    await load(certificateFor(HOST))
    change()
    await answer(undefined)
    assert.equal(contexts.get(HOST), undefined)
    assert.equal(contexts.get(HOST), undefined)
    assert.equal(reads.length, 2)
    change()
    const found = contexts.get(HOST)
    await answer(certificateFor(HOST))
    assert.ok(await found)
  })

  test('does not cache a load that began before a change', async () => {
    const { contexts, reads, load, change } = setUp()
    const early = contexts.get(HOST)
    change()
    const renewed = await load(certificateFor(HOST))
    reads[0]?.answer(certificateFor(HOST))
    assert.ok(await early)
    assert.equal(contexts.get(HOST), renewed)
  })

  test('reloads every certificate when a node may have missed a change', async () => {
    const { contexts, reads, answer, load } = setUp()
    const old = await load(certificateFor(HOST))
    contexts.forgetAll()
    assert.equal(contexts.get(HOST), old)
    assert.equal(reads.length, 2)
    await answer(certificateFor(HOST))
    assert.notEqual(contexts.get(HOST), old)
  })

  test('keeps memory within its limit, however many certificates are loaded', async () => {
    const { keyPem, ...certificate } = open(certificateFor(HOST))
    const contexts = new SecureContexts({
      find: async (host) => ({ ...certificate, host, sealedKey: vault.seal(host, keyPem) }),
      open,
      onError: (error) => assert.fail(String(error)),
      onUnusable: (host) => assert.fail(host),
      countMax: 10,
    })
    let loaded = 0
    const grownBy = async (hosts: number) => {
      const before = process.memoryUsage.rss()
      for (const end = loaded + hosts; loaded < end; loaded += 1) {
        assert.ok(await contexts.get(`links-${loaded}.acme.test`))
        await new Promise((resolve) => setImmediate(resolve))
      }
      return (process.memoryUsage.rss() - before) / 1024
    }
    await grownBy(200)
    // Contexts that are kept make each pass grow; the heap of the process grows in some pass, whatever is kept.
    const passes = [await grownBy(CONTEXTS), await grownBy(CONTEXTS), await grownBy(CONTEXTS)]
    const grownKib = Math.min(...passes)
    assert.ok(grownKib < CONTEXTS * CONTEXT_KIB_MIN, `${grownKib} KiB`)
  })

  test('fails the handshake, not the process, when a private key is damaged', async () => {
    const { contexts, errors, answer } = setUp()
    const found = Promise.resolve(contexts.get(HOST))
    const damaged = { ...certificateFor(HOST), sealedKey: 'damaged' }
    await Promise.all([assert.rejects(found), answer(damaged)])
    assert.equal(errors.length, 1)
  })
})

/** The hosts whose certificates a later process would restore. */
function hostsIn(copy: WarmStart): readonly string[] {
  return [...copy.values('certificate').entries()].map(({ name }) => name)
}

describe('the warm start of certificates', () => {
  test('lets a restarted process serve certificates without the store', async () => {
    const copy = memoryWarmStart()
    const certificate = certificateFor(HOST)
    assert.ok(await setUp(copy).load(certificate))
    const { contexts, reads, errors, unusable } = setUp(copy)
    contexts.restore()
    const context = contexts.get(HOST)
    assert.ok(context && !(context instanceof Promise))
    assert.equal(contexts.get(HOST), context, 'the certificate is parsed once')
    const { notBefore, notAfter } = certificate
    assert.deepEqual(contexts.findLife(HOST), { notBefore, notAfter })
    assert.deepEqual([reads, errors, unusable], [[], [], []])
    assert.deepEqual(hostsIn(copy), [HOST], 'the copy stays for the next process')
  })

  test('holds the current certificate, and none that has changed since or was removed', async () => {
    const copy = memoryWarmStart()
    const first = setUp(copy)
    const old = await first.load(certificateFor(HOST))
    first.change()
    assert.equal(first.contexts.get(HOST), old, 'it is still served')
    assert.equal(first.contexts.findLife(HOST), undefined, 'but may not be the one in use')
    assert.deepEqual(hostsIn(copy), [], 'the next process does not restore it')
    const second = setUp(copy)
    await second.load(certificateFor(HOST))
    second.change()
    const renewed = certificateFor(HOST)
    await second.answer(renewed)
    const [kept] = copy.values('certificate').entries()
    assert.equal(JSON.parse(kept?.value ?? '').chainPem, renewed.chainPem)
    const third = setUp(copy)
    await third.load(certificateFor(HOST))
    third.change()
    await third.answer(undefined)
    assert.deepEqual(hostsIn(copy), [])
  })

  test('is not restored for a host whose certificate changed, or when changes may have been missed', async () => {
    const copy = memoryWarmStart()
    for (const turn of ['change', 'forgetAll'] as const) {
      await setUp(copy).load(certificateFor(HOST))
      const { contexts, reads, change } = setUp(copy)
      contexts.restore()
      if (turn === 'change') change()
      else contexts.forgetAll()
      assert.equal(reads.length, 0, 'nothing is loaded before a handshake needs it')
      assert.equal(contexts.findLife(HOST), undefined)
      assert.ok(contexts.get(HOST) instanceof Promise)
      assert.equal(reads.length, 1)
      assert.deepEqual(hostsIn(copy), [])
    }
  })

  test('with a damaged entry refuses HTTPS for that host until the store returns its certificate', async () => {
    const copy = memoryWarmStart()
    const sound = certificateFor(HOST)
    const { chainPem } = sound
    for (const [host, value] of [
      [HOST, JSON.stringify(sound)],
      ['cut.acme.test', JSON.stringify(sound).slice(0, 100)],
      ['empty.acme.test', '{}'],
      ['null.acme.test', 'null'],
      ['other.acme.test', JSON.stringify(sound)],
      ['mixed.acme.test', JSON.stringify({ ...certificateFor('mixed.acme.test'), chainPem })],
      ['strange.acme.test', JSON.stringify(certificateFor('strange.acme.test', otherVault))],
    ] as const) {
      copy.values('certificate').keep(host, () => value)
    }
    const damaged = hostsIn(copy).filter((host) => host !== HOST)
    assert.equal(damaged.length, 6)
    const { contexts, unusable, answer } = setUp(copy)
    contexts.restore()
    for (const host of damaged) {
      assert.equal(contexts.findLife(host), undefined)
      const found = Promise.resolve(contexts.get(host))
      await Promise.all([assert.rejects(found, /away/), answer(new Error('away'))])
      const later = contexts.get(host)
      await answer(certificateFor(host))
      assert.ok(await later)
      assert.ok(contexts.findLife(host))
    }
    assert.deepEqual(unusable, damaged, 'once each')
    assert.ok(!(contexts.get(HOST) instanceof Promise))
  })

  test('holds as many certificates as the cache', async () => {
    const copy = memoryWarmStart()
    const sized = (countMax: number, copy: WarmStart) =>
      new SecureContexts({
        find: async (host) => certificateFor(host),
        open,
        warmStart: copy,
        onError: (error) => assert.fail(String(error)),
        onUnusable: (host) => assert.fail(host),
        countMax,
      })
    const first = sized(10, copy)
    for (let nth = 0; nth < 30; nth += 1) await first.get(`links-${nth}.acme.test`)
    assert.equal(hostsIn(copy).length, 10)
    sized(4, copy).restore()
    assert.equal(hostsIn(copy).length, 4)
  })
})
