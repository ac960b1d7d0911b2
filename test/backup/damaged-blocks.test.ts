import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { listBackups } from '../../src/backup/restore-backup.ts'
import type { BackupTarget } from '../../src/backup/targets/backup-target.ts'
import { openTarget } from '../../src/backup/targets/open-target.ts'
import type { S3Access } from '../../src/backup/targets/s3-target.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { createTestLink } from '../clicks/test-link.ts'
import { backUp, restoreInto } from '../support/backups.ts'
import { createFolder, type Place, SQLITE } from '../support/engines.ts'
import { makeInstance } from '../support/make-instance.ts'
import { startS3Server } from '../support/s3-server.ts'

type Request = Parameters<typeof backUp>[0]

describe('a block that is damaged in the target', () => {
  let place: Place
  let folder: string
  let server: Awaited<ReturnType<typeof startS3Server>>
  let keys: Pick<Request, 'recipients' | 'identityFile'>
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    folder = createFolder()
    server = await startS3Server()
    await makeInstance(place.env, async ({ store }) => {
      await createTestLink(store, systemClock())
    })
    const identity = await generateX25519Identity()
    const identityFile = path.join(folder, 'identity.key')
    writeFileSync(identityFile, `${identity}\n`)
    keys = { identityFile, recipients: [await identityToRecipient(identity)] }
  })
  after(async () => {
    await server.stop()
    await place.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  let count = 0
  function requestFor(kind: string): Request {
    count += 1
    return {
      dataDir: place.dataDir,
      target: kind.includes('bucket')
        ? `s3://backups/${count}`
        : path.join(folder, `target-${count}`),
      s3: server.access,
      ...(kind.includes('encrypted') && keys),
    }
  }
  const listing = ({ s3 }: Request) => ({ s3, signedByFile: undefined })
  const targetOf = ({ target, s3 }: Request) => openTarget(target, s3)
  const largestBlock = async (target: BackupTarget) =>
    (await target.list('blocks/')).toSorted((a, b) => b.size - a.size)[0]?.name ?? ''
  function restoreFrom({ target, s3, identityFile }: Request, name?: string) {
    count += 1
    const dataDir = path.join(folder, `restored-${count}`)
    return restoreInto({ source: target, dataDir, name, s3, identityFile })
  }

  async function change(target: BackupTarget, name: string, how: (bytes: Buffer) => Buffer) {
    const bytes = await target.read(name)
    assert.ok(bytes)
    await target.write(name, how(bytes))
  }
  const flipByte = (bytes: Buffer) => {
    const middle = bytes.length >> 1
    bytes.writeUInt8((bytes[middle] ?? 0) ^ 1, middle)
    return bytes
  }

  for (const kind of ['a folder', 'an encrypted folder', 'a bucket', 'an encrypted bucket']) {
    describe(`in ${kind}`, () => {
      test('is named and written again by a backup that is verified', async () => {
        const request = requestFor(kind)
        const target = await targetOf(request)
        const first = await backUp(request)
        const block = await largestBlock(target)
        await change(target, block, flipByte)
        const second = await backUp({ ...request, verifies: true })
        assert.deepEqual(second.repaired, [{ block: path.basename(block), file: 'terse.db' }])
        assert.deepEqual(await target.list('damaged/'), [])
        const names = (await listBackups(request.target, listing(request))).map(({ name }) => name)
        assert.deepEqual(names, [first.name, second.name], 'the one that was not verified is gone')
        assert.deepEqual((await backUp({ ...request, verifies: true })).repaired, [])
        for (const name of names) assert.equal((await restoreFrom(request, name)).links, 1)
      })

      test('is written again by every backup if its size is wrong', async () => {
        const request = requestFor(kind)
        const target = await targetOf(request)
        await backUp(request)
        const block = await largestBlock(target)
        await change(target, block, (bytes) => bytes.subarray(0, bytes.length - 1))
        const { repaired } = await backUp(request)
        assert.deepEqual(repaired, [{ block: path.basename(block), file: 'terse.db' }])
        assert.deepEqual((await backUp(request)).repaired, [])
        assert.equal((await restoreFrom(request)).links, 1)
      })
    })
  }

  test('is written again by every backup if a process that was killed had marked it', async () => {
    const request = requestFor('a folder')
    const target = await targetOf(request)
    await backUp(request)
    const block = await largestBlock(target)
    await change(target, block, flipByte)
    await target.write(`damaged/${path.basename(block)}`, Buffer.from('found\n'))
    const { repaired } = await backUp(request)
    assert.deepEqual(repaired, [{ block: path.basename(block), file: 'terse.db' }])
    assert.deepEqual(await target.list('damaged/'), [])
    assert.equal((await restoreFrom(request)).links, 1)
  })

  test('stays marked while only an older backup needs it, which is listed as damaged', async () => {
    const request = requestFor('a folder')
    const target = await targetOf(request)
    const settings = path.join(place.dataDir, 'terse.env')
    writeFileSync(settings, '# before\n')
    const old = await backUp(request)
    writeFileSync(settings, '# after\n')
    const { name } = await backUp(request)
    const block = await blockOf(target, old.name, 'terse.env')
    await change(target, `blocks/${block.slice(0, 2)}/${block}`, flipByte)
    await assert.rejects(
      restoreFrom(request, old.name),
      new RegExp(`a block of terse\\.env is damaged: blocks/../${block}.*--at ${name}\\)`),
    )
    await target.write(`damaged/${block}`, Buffer.from('found\n'))
    await backUp({ ...request, verifies: true })
    const states = (await listBackups(request.target, listing(request))).map(({ state }) => state)
    assert.deepEqual(states, ['damaged', 'complete', 'complete'])
    await backUp({ ...request, retention: [{ count: 1, unit: 'm' }] })
    assert.deepEqual(await target.list('damaged/'), [], 'the mark is removed with the block')
    rmSync(settings)
  })

  test('is reported when what is written again is damaged too', async () => {
    const request = requestFor('a bucket')
    const faulty = await startFaultyProxy(server.access, (url) => url.includes('/blocks/'))
    try {
      await assert.rejects(
        backUp({ ...request, s3: { ...server.access, endpoint: faulty.endpoint }, verifies: true }),
        new RegExp(
          `could not be verified, nor the one before it: a block of .* is damaged: blocks/.*Check ${request.target}\\.`,
        ),
      )
    } finally {
      faulty.stop()
    }
    assert.equal((await backUp({ ...request, verifies: true })).isVerified, true)
  })

  test('keeps no later backup from being made if it is a manifest', async () => {
    const request = requestFor('a folder')
    const target = await targetOf(request)
    const { name } = await backUp(request)
    const manifest = `backups/${name}.json`
    await change(target, manifest, (bytes) => bytes.subarray(0, bytes.length - 2))
    const blocks = (await target.list('blocks/')).length
    const later = await backUp({ ...request, verifies: true })
    const states = (await listBackups(request.target, listing(request))).map(({ state }) => state)
    assert.deepEqual(states, ['damaged', 'complete'])
    assert.ok((await target.list('blocks/')).length >= blocks, 'it keeps its blocks')
    await assert.rejects(
      restoreFrom(request, name),
      new RegExp(`the manifest of the backup ${name} is damaged.*--at ${later.name}\\)`),
    )
    const { removed } = await backUp({ ...request, retention: [{ count: 1, unit: 'm' }] })
    assert.ok(removed.includes(name), 'it is thinned out like others')
  })
})

async function blockOf(target: BackupTarget, backup: string, file: string): Promise<string> {
  const manifest = JSON.parse(String(await target.read(`backups/${backup}.json`)))
  const { blocks } = manifest.content.files.find(({ path }: { path: string }) => path === file)
  return blocks[0]
}

/** Passes requests on to an S3 service, and answers some objects with other contents. */
async function startFaultyProxy({ endpoint }: S3Access, isFaulty: (url: string) => boolean) {
  const proxy = createServer((request, response) => {
    const { url = '', method, headers } = request
    if (method === 'GET' && isFaulty(url)) {
      response.end('something else')
      return
    }
    const passed = sendRequest(new URL(url, endpoint), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    request.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop() {
      proxy.close()
      proxy.closeAllConnections()
    },
  }
}
