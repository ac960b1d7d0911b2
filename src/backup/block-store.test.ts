import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { findDamagedBlocks, readBlocks } from './block-store.ts'
import { DamagedBackup } from './manifest.ts'
import type { BackupTarget } from './targets/backup-target.ts'

const CONTENT = Buffer.from('a file')
const hash = createHash('sha256').update(CONTENT).digest('hex')
const file = { path: 'terse.db', size: CONTENT.length, sha256: hash, blocks: [hash] }

/** A target that answers every read so. */
function targetThat(read: () => Buffer | undefined): BackupTarget {
  return {
    label: 'a target',
    workFolder: undefined,
    list: async () => [],
    read: async () => read(),
    write: async () => {},
    remove: async () => {},
    sync: async () => {},
    ensureRoom: async () => {},
  }
}

async function readAll(target: BackupTarget): Promise<Buffer> {
  const blocks: Uint8Array[] = []
  for await (const block of readBlocks({ target, decrypt: undefined }, file)) blocks.push(block)
  return Buffer.concat(blocks)
}

describe('readBlocks', () => {
  test('returns the content of a file', async () => {
    assert.deepEqual(await readAll(targetThat(() => CONTENT)), CONTENT)
  })

  for (const [name, read, fault] of [
    ['is missing', () => undefined, 'is missing'],
    ['has another content', () => Buffer.from('a filf'), 'is damaged'],
    ['is longer', () => Buffer.concat([CONTENT, CONTENT]), 'is damaged'],
    ['lies in a bad sector', () => fail('EIO'), 'cannot be read (EIO)'],
  ] as const) {
    test(`names a block that ${name}`, async () => {
      const target = targetThat(read)
      await assert.rejects(readAll(target), (error) => {
        assert.ok(error instanceof DamagedBackup)
        const block = `blocks/${hash.slice(0, 2)}/${hash}`
        assert.equal(error.message, `a block of terse.db ${fault}: ${block}`)
        assert.deepEqual(error.blocks, [hash])
        return true
      })
      const damaged = await findDamagedBlocks({ target, decrypt: undefined }, [file, file])
      assert.deepEqual(damaged, [{ block: hash, file: 'terse.db', fault }])
    })
  }

  test('takes no fault of the network for damage', async () => {
    await assert.rejects(readAll(targetThat(() => fail('ECONNRESET'))), { code: 'ECONNRESET' })
  })
})

function fail(code: string): never {
  throw Object.assign(new Error(code), { code })
}
