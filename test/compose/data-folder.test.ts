import assert from 'node:assert/strict'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { DataFolder, makeRoomToStart } from '../../src/app/node/data-folder.ts'
import { readDiskSpace } from '../../src/platform/disk/disk-space.ts'
import type { FolderFault } from '../../src/platform/disk/folder.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { mountTmpfs, skipWithoutMount, unmount } from '../support/tmpfs.ts'

const skip = skipWithoutMount()

describe('DataFolder', () => {
  let dataDir: string
  let lines: { msg: string; [name: string]: unknown }[]
  let folder: DataFolder | undefined
  beforeEach(() => {
    dataDir = createFolder()
    lines = []
  })
  afterEach(async () => {
    await folder?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  function open(diskLowRatio = 0): DataFolder {
    const log = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) })
    folder = new DataFolder({ config: { dataDir, diskLowRatio }, log })
    return folder
  }

  const reserveFile = () => path.join(dataDir, 'reserve')
  const messages = () => lines.map(({ msg }) => msg)
  const reserveIsWhole = () =>
    eventually(async () => {
      assert.equal(statSync(reserveFile()).size, (await readDiskSpace(dataDir)).reserveBytes)
    })

  test('creates a reserve file whose blocks are allocated', async () => {
    const watched = open()
    watched.start({ firstDelayMs: 0 })
    await reserveIsWhole()
    const { blocks, size } = statSync(reserveFile())
    assert.ok(blocks * 512 >= size, `${blocks} blocks for ${size} bytes`)
    assert.equal(watched.fault, undefined)
    assert.deepEqual(messages(), [])
  })

  test('releases the reserve when a write finds the disk full, and creates it again later', async () => {
    const watched = open()
    watched.start({ firstDelayMs: 0 })
    await reserveIsWhole()
    const faults: (FolderFault | undefined)[] = []
    watched.onFault((fault) => faults.push(fault))

    assert.equal(watched.noteFailure(Object.assign(new Error('full'), { code: 'ENOSPC' })), true)
    assert.equal(statSync(reserveFile()).size, 0)
    assert.equal(watched.fault, 'full')
    assert.ok(watched.faultText?.includes(dataDir))

    await eventually(async () => assert.equal(watched.fault, undefined))
    await reserveIsWhole()
    assert.deepEqual(faults, ['full', undefined])
    assert.deepEqual(messages(), ['data folder not writable', 'data folder writable again'])
    assert.ok(lines.every((line) => line.folder === dataDir))
  })

  test('keeps the reserve when a write fails for another reason', async () => {
    const watched = open()
    watched.start({ firstDelayMs: 0 })
    await reserveIsWhole()
    assert.equal(watched.noteFailure(new Error('too many open files')), false)
    assert.equal(watched.noteFailure(Object.assign(new Error('gone'), { code: 'ENOENT' })), false)
    await reserveIsWhole()
    assert.equal(watched.fault, undefined)
  })

  test('restores a reserve that another process has released', async () => {
    writeFileSync(reserveFile(), '')
    open().start({ firstDelayMs: 0 })
    await reserveIsWhole()
  })

  test('removes the unfinished reserve of a killed process', async () => {
    const leftover = `${reserveFile()}.999999`
    writeFileSync(leftover, 'half')
    open().start({ firstDelayMs: 0 })
    await reserveIsWhole()
    assert.equal(statSync(leftover, { throwIfNoEntry: false }), undefined)
  })

  test('warns once below the low-disk limit, with the space left', async () => {
    const watched = open(1.1)
    watched.start({ firstDelayMs: 0 })
    await eventually(async () => assert.equal(watched.isLow, true))
    await reserveIsWhole()
    assert.deepEqual(messages(), ['disk almost full'])
    assert.equal(lines[0]?.folder, dataDir)
    assert.equal(typeof lines[0]?.freeMiB, 'number')
    assert.equal(typeof lines[0]?.freePercent, 'number')
  })

  test('reports a missing folder', async () => {
    rmSync(dataDir, { recursive: true })
    const watched = open()
    watched.start({ firstDelayMs: 0 })
    await eventually(async () => assert.equal(watched.fault, 'missing'))
    assert.ok(watched.faultText?.includes(dataDir))
  })

  describe('on a small disk', { skip }, () => {
    beforeEach(() => mountTmpfs(dataDir, 'size=1m'))
    afterEach(() => unmount(dataDir))

    test('is full while the reserve is released and there is no room to make it again', async () => {
      const ballast = path.join(dataDir, 'ballast')
      writeFileSync(ballast, Buffer.alloc(950 * 1024))
      writeFileSync(reserveFile(), '')
      const watched = open()
      watched.start({ firstDelayMs: 0 })
      await eventually(async () => assert.equal(watched.fault, 'full'))
      rmSync(ballast)
      await eventually(async () => assert.equal(watched.fault, undefined))
      await reserveIsWhole()
      await watched.stop()
    })

    test('detects a disk that something else has filled, without a write of the service', async () => {
      const watched = open()
      watched.start({ firstDelayMs: 0 })
      await reserveIsWhole()
      await watched.stop()
      writeFileSync(
        path.join(dataDir, 'ballast'),
        Buffer.alloc((await readDiskSpace(dataDir)).freeBytes),
      )
      const second = open()
      second.start({ firstDelayMs: 0 })
      await eventually(async () => assert.equal(second.fault, 'full'))
      assert.equal(statSync(reserveFile()).size, 0)
      await second.stop()
    })

    test('is writable when there is too little room for a first reserve', async () => {
      writeFileSync(path.join(dataDir, 'ballast'), Buffer.alloc(950 * 1024))
      const watched = open(0.2)
      watched.start({ firstDelayMs: 0 })
      await eventually(async () => assert.equal(watched.isLow, true))
      await watched.stop()
      assert.equal(watched.fault, undefined)
      assert.equal(statSync(reserveFile(), { throwIfNoEntry: false }), undefined)
    })

    test('releases its reserve for a start that finds the disk full', async () => {
      writeFileSync(reserveFile(), Buffer.alloc(100 * 1024))
      await makeRoomToStart(dataDir)
      assert.equal(
        statSync(reserveFile()).size,
        100 * 1024,
        'the reserve is kept while there is room',
      )
      writeFileSync(path.join(dataDir, 'ballast'), Buffer.alloc(924 * 1024))
      await makeRoomToStart(dataDir)
      assert.equal(statSync(reserveFile()).size, 0)
    })
  })
})
