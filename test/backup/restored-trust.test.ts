import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { openTarget } from '../../src/backup/targets/open-target.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { createTestLink } from '../clicks/test-link.ts'
import { backUp, restoreInto } from '../support/backups.ts'
import { createFolder, type Place, SQLITE } from '../support/engines.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCommand } from '../support/run-command.ts'

describe('a backup from a place that others can write to', () => {
  let place: Place
  let folder: string
  let target: string
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    await makeInstance(place.env, async ({ store }) => {
      await createTestLink(store, systemClock())
    })
  })
  beforeEach(() => {
    folder = createFolder()
    target = path.join(folder, 'target')
  })
  after(() => place.remove())
  const restored = () => path.join(folder, 'restored')
  const restore = (args: readonly string[], answer = '') =>
    runCommand(['--data-dir', restored(), 'restore', target, ...args], {}, answer)

  describe('with settings', () => {
    const settings = 'TERSE_OIDC_ISSUER=https://other.example\nTERSE_SMTP_URL=smtps://u:hunter2@x\n'
    const settingsFile = () => path.join(restored(), 'terse.env')
    before(() => writeFileSync(path.join(place.dataDir, 'terse.env'), settings))
    beforeEach(() => backUp({ dataDir: place.dataDir, target }))
    after(() => rmSync(path.join(place.dataDir, 'terse.env')))

    test('is refused with status 2 where nobody can accept them, and changes nothing', async () => {
      const { code, stderr } = await restore([])
      assert.equal(code, 2, stderr)
      assert.match(stderr, /^ {2}TERSE_OIDC_ISSUER=https:\/\/other\.example$/m)
      assert.match(stderr, /^ {2}TERSE_SMTP_URL$/m, 'without the value of a secret')
      assert.doesNotMatch(stderr, /hunter2/)
      assert.match(stderr, /--accept-settings/)
      assert.ok(!existsSync(restored()))
    })

    test('is refused when a person declines, and restored when they accept', async () => {
      assert.equal((await restore([], 'no')).code, 2)
      assert.ok(!existsSync(restored()))
      const { code, stderr } = await restore([], 'yes')
      assert.equal(code, 0, stderr)
      assert.equal(readFileSync(settingsFile(), 'utf8'), settings)
    })

    test('is restored with --accept-settings, which names them too', async () => {
      const { code, stderr } = await restore(['--accept-settings'])
      assert.equal(code, 0, stderr)
      assert.match(stderr, /TERSE_OIDC_ISSUER/)
    })

    test('asks nothing where the data folder has settings of its own', async () => {
      const own = 'TERSE_PORT=3001\n'
      mkdirSync(restored())
      writeFileSync(settingsFile(), own)
      const { code, stderr } = await restore([])
      assert.equal(code, 0, stderr)
      assert.equal(readFileSync(settingsFile(), 'utf8'), own)
    })
  })

  describe('that is signed', () => {
    let signingKeyFile: string
    let signedByFile: string
    let otherFile: string
    beforeEach(() => {
      signingKeyFile = path.join(folder, 'signing.pem')
      signedByFile = path.join(folder, 'signing.pub')
      otherFile = path.join(folder, 'other.pub')
      writeKeys(signingKeyFile, signedByFile)
      writeKeys(path.join(folder, 'other.pem'), otherFile)
    })
    const signed = () => backUp({ dataDir: place.dataDir, target, signingKeyFile, verifies: true })
    const restoreSigned = () => restoreInto({ source: target, dataDir: restored(), signedByFile })

    test('is restored whether or not its signature is demanded', async () => {
      await signed()
      assert.equal((await restoreSigned()).links, 1)
      rmSync(restored(), { recursive: true })
      const { code, stdout } = await restore(['--signed-by', signedByFile])
      assert.equal(code, 0)
      assert.match(stdout, new RegExp(`It is signed by ${signedByFile}`))
      rmSync(restored(), { recursive: true })
      assert.equal((await restoreInto({ source: target, dataDir: restored() })).links, 1)
    })

    test('is listed as signed, and others as not', async () => {
      await backUp({ dataDir: place.dataDir, target })
      await signed()
      const { stdout } = await restore(['--list', '--signed-by', signedByFile])
      const [heading = '', ...rows] = stdout.trim().split('\n')
      assert.match(heading, /SIGNED$/i)
      assert.deepEqual(
        rows.map((row) => row.split(/ +/).at(-1)),
        ['no', 'yes'],
      )
    })

    for (const [name, tamper] of [
      ['has no signature', (file: string) => rmSync(file.replace(/json$/, 'sig'))],
      ['has the signature of another backup', swapSignature],
      ['was changed by one character', changeManifest],
    ] as const) {
      test(`is refused when it ${name}`, async () => {
        await signed()
        const { name: newest } = await signed()
        tamper(path.join(target, 'backups', `${newest}.json`))
        await assert.rejects(
          restoreSigned(),
          new RegExp(`backup ${newest} .*is not signed by the key`),
        )
        assert.ok(!existsSync(restored()))
      })
    }

    test('is refused when another key is demanded', async () => {
      await signed()
      signedByFile = otherFile
      await assert.rejects(restoreSigned(), /is not signed by the key in .*other\.pub/)
      signedByFile = path.join(folder, 'none.pub')
      await assert.rejects(restoreSigned(), /none\.pub \(ENOENT\)/)
      writeFileSync(signedByFile, 'no key')
      await assert.rejects(restoreSigned(), /none\.pub has no public key of Ed25519/)
    })

    test('is refused when a block was replaced', async () => {
      await signed()
      const objects = await openTarget(target, undefined)
      const [block] = await objects.list('blocks/')
      await objects.write(block?.name ?? '', Buffer.from('something else'))
      await assert.rejects(restoreSigned(), /is damaged: blocks\//)
    })

    test('is refused when an unsigned restore of the same name was cut off before its end', async () => {
      const { name } = await signed()
      const working = path.join(restored(), 'restoring')
      await restoreInto({ source: target, dataDir: restored() })
      // As a killed process leaves it that has restored what another manifest of this name described.
      const names = readdirSync(restored())
      const files = names.map((each) => [each, path.join(restored(), each)] as const)
      const data = path.join(working, 'data')
      mkdirSync(data, { recursive: true })
      for (const [each, file] of files) renameSync(file, path.join(data, each))
      writeFileSync(path.join(data, 'terse.env'), 'TERSE_PORT=1\n')
      writeFileSync(path.join(working, 'complete'), JSON.stringify({ name, fingerprint: 'other' }))
      await restoreSigned()
      assert.ok(!existsSync(path.join(restored(), 'terse.env')), 'it was restored anew')
    })

    test('is signed when it is encrypted, too', async () => {
      const identity = await generateX25519Identity()
      const identityFile = path.join(folder, 'identity.key')
      writeFileSync(identityFile, identity)
      const recipients = [await identityToRecipient(identity)]
      const keys = { recipients, identityFile, signingKeyFile }
      await backUp({ dataDir: place.dataDir, target, ...keys, verifies: true })
      const request = { source: target, dataDir: restored(), identityFile, signedByFile }
      assert.equal((await restoreInto(request)).links, 1)
    })

    test('has a signature of the bytes of its manifest, which is removed with it', async () => {
      const { name } = await signed()
      const file = path.join(target, 'backups', name)
      const key = createPublicKey(readFileSync(signedByFile))
      assert.ok(verify(null, readFileSync(`${file}.json`), key, readFileSync(`${file}.sig`)))
      writeFileSync(path.join(target, 'backups', `${name.slice(0, -8)}ffffffff.sig`), 'left behind')
      await backUp({ dataDir: place.dataDir, target, retention: [{ count: 1, unit: 'm' }] })
      const signatures = readdirSync(path.join(target, 'backups')).filter((each) =>
        /sig$/.test(each),
      )
      assert.deepEqual(signatures, [`${name}.sig`], 'of the verified one, which is kept')
    })

    test('is not made with a file that has no key', async () => {
      signingKeyFile = otherFile
      await assert.rejects(signed(), /other\.pub has no private key of Ed25519/)
      assert.ok(!existsSync(target))
    })
  })
})

function writeKeys(privateFile: string, publicFile: string): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  writeFileSync(privateFile, privateKey, { mode: 0o600 })
  writeFileSync(publicFile, publicKey)
}

function swapSignature(manifest: string): void {
  const folder = path.dirname(manifest)
  const [first = ''] = readdirSync(folder)
    .filter((name) => name.endsWith('.sig'))
    .sort()
  writeFileSync(manifest.replace(/json$/, 'sig'), readFileSync(path.join(folder, first)))
}

function changeManifest(manifest: string): void {
  const text = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, text.replace('"engine":"sqlite"', '"engine": "sqlite"'))
}
