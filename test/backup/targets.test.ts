import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { openTarget } from '../../src/backup/targets/open-target.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { createTestLink } from '../clicks/test-link.ts'
import { backUp, restoreInto } from '../support/backups.ts'
import { createFolder, type Place, SQLITE } from '../support/engines.ts'
import { makeInstance } from '../support/make-instance.ts'
import { startS3Server } from '../support/s3-server.ts'

describe('the target of a backup', () => {
  let place: Place
  let folder: string
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    folder = createFolder()
    await makeInstance(place.env, async ({ store }) => {
      await createTestLink(store, systemClock())
    })
  })
  after(async () => {
    await place.remove()
    rmSync(folder, { recursive: true, force: true })
  })
  const inFolder = (name: string) => path.join(folder, name)
  async function makeIdentity(name: string) {
    const key = await generateX25519Identity()
    writeFileSync(inFolder(name), `${key}\n`, { mode: 0o600 })
    return { file: inFolder(name), recipient: await identityToRecipient(key) }
  }
  const filesOf = (target: string) =>
    readdirSync(target, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))

  describe('that is encrypted', () => {
    let identityFile: string
    let recipients: readonly string[]
    const target = () => inFolder('encrypted')
    before(async () => {
      const key = await makeIdentity('identity.key')
      identityFile = key.file
      recipients = [key.recipient]
      await backUp({
        dataDir: place.dataDir,
        target: target(),
        recipients,
        identityFile,
        verifies: true,
      })
    })

    test('shows neither contents nor hashes of files', () => {
      const key = readFileSync(path.join(place.dataDir, 'secret.key'))
      const hash = createHash('sha256').update(key).digest('hex')
      for (const file of filesOf(target())) {
        const bytes = readFileSync(file)
        assert.ok(!bytes.includes('SQLite format'), file)
        assert.ok(!bytes.includes(key.subarray(0, 64)), file)
        assert.ok(!bytes.includes(hash) && !file.includes(hash), file)
      }
    })

    test('is restored with the identity alone', async () => {
      const request = { source: target(), dataDir: inFolder('decrypted') }
      await assert.rejects(restoreInto(request), /is encrypted.*--identity/)
      const { file: wrong } = await makeIdentity('wrong.key')
      await assert.rejects(
        restoreInto({ ...request, identityFile: wrong }),
        new RegExp(`No identity in ${wrong} can decrypt the backup`),
      )
      const missing = inFolder('missing.key')
      await assert.rejects(
        restoreInto({ ...request, identityFile: missing }),
        new RegExp(`cannot be read: ${missing} \\(ENOENT\\)`),
      )
      const { links } = await restoreInto({ ...request, identityFile })
      assert.equal(links, 1)
    })

    test('is stored again for other recipients', async () => {
      const other = await makeIdentity('other.key')
      await backUp({
        dataDir: place.dataDir,
        target: target(),
        recipients: [other.recipient],
      })
      const request = { source: target(), dataDir: inFolder('other'), identityFile: other.file }
      assert.equal((await restoreInto(request)).links, 1)
    })

    test('cannot be verified without the identity', async () => {
      const request = { dataDir: place.dataDir, target: target(), recipients, verifies: true }
      await assert.rejects(backUp(request), /TERSE_BACKUP_IDENTITY_FILE/)
    })
  })

  describe('in a bucket', () => {
    let server: Awaited<ReturnType<typeof startS3Server>>
    const address = 's3://backups/some/prefix'
    before(async () => {
      server = await startS3Server()
    })
    after(() => server.stop())

    test('is stored, verified, thinned out and restored', async () => {
      const request = { dataDir: place.dataDir, target: address, s3: server.access }
      const first = await backUp({ ...request, verifies: true })
      assert.equal(first.isVerified, true)
      writeFileSync(path.join(place.dataDir, 'terse.env'), 'TERSE_RATE_LIMIT=1\n')
      const second = await backUp(request)
      assert.ok(second.writtenBytes < first.writtenBytes, 'most blocks are there already')
      const third = await backUp({ ...request, retention: [{ count: 1, unit: 'm' }] })
      assert.deepEqual(third.removed, [second.name], 'the verified one is kept')
      const restored = await restoreInto({
        source: address,
        s3: server.access,
        dataDir: inFolder('from-bucket'),
      })
      assert.equal(restored.name, third.name)
      assert.equal(restored.links, 1)
      assert.ok(!readdirSync(place.dataDir).includes('backup-work'))
    })

    test('lists more objects than one answer has', async () => {
      // s3rver makes its tokens by a cipher that OpenSSL no longer has.
      const pages = [
        '<Contents><Key>many/blocks/1</Key><Size>7</Size></Contents><NextContinuationToken>a&amp;b</NextContinuationToken>',
        '<Contents><Key>many/blocks/2</Key><Size>8</Size></Contents>',
      ]
      const tokens: (string | null)[] = []
      const pageServer = createServer((request, response) => {
        tokens.push(new URL(request.url ?? '', 'http://x').searchParams.get('continuation-token'))
        response.end(`<ListBucketResult>${pages.shift()}</ListBucketResult>`)
      })
      await new Promise<void>((resolve) => pageServer.listen(0, '127.0.0.1', resolve))
      try {
        const { port } = pageServer.address() as AddressInfo
        const endpoint = `http://127.0.0.1:${port}`
        const target = await openTarget('s3://bucket/many', { ...server.access, endpoint })
        assert.deepEqual(await target.list('blocks/'), [
          { name: 'blocks/1', size: 7 },
          { name: 'blocks/2', size: 8 },
        ])
        assert.deepEqual(tokens, [null, 'a&b'])
      } finally {
        pageServer.close()
        pageServer.closeAllConnections()
      }
    })

    test('reports a missing bucket and a wrong key in one line', async () => {
      const request = { dataDir: place.dataDir, target: 's3://missing/x', s3: server.access }
      await assert.rejects(backUp(request), /s3:\/\/missing\/x refused a request.*NoSuchBucket/)
      const s3 = { ...server.access, accessKeyId: 'wrong' }
      await assert.rejects(backUp({ ...request, target: address, s3 }), /403 InvalidAccessKeyId/)
    })
  })
})
