import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { pinDataFolder } from '../../src/backup/pin.ts'
import { readBackupRecords, writeBackupRecords } from '../../src/backup/records.ts'
import { LINK_NUMBERS_SKIPPED } from '../../src/backup/verify-backup.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { createTestLink, type TestLink } from '../clicks/test-link.ts'
import { backUp, restoreInto } from '../support/backups.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { createFolder, type Place, SQLITE } from '../support/engines.ts'
import { makeInstance } from '../support/make-instance.ts'
import { runCommand } from '../support/run-command.ts'
import { mountTmpfs, skipWithoutMount, unmount } from '../support/tmpfs.ts'

const DAY_MICROS = 86_400_000_000
const DAYS = 3

describe('a backup', () => {
  let place: Place
  let folder: string
  let link: TestLink
  let target: string
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    await makeInstance(place.env, async ({ store, workspaces }) => {
      await workspaces.ensure(commandLine, 'acme')
      link = await createTestLink(store, systemClock())
      await takeDays()
    })
  })
  beforeEach(() => {
    folder = createFolder()
    target = path.join(folder, 'target')
  })
  after(() => place.remove())

  /** Counts a click on each of the last days, today included. */
  async function takeDays(): Promise<void> {
    const writer = await openWriterAt(place)
    const now = systemClock().nowMicros()
    for (let age = 0; age < DAYS; age += 1) {
      await takeClicks(writer, [someClick({ at: now - age * DAY_MICROS, link_seq: link.seq })])
    }
    await writer.close()
  }

  const backUpHere = (options: Partial<Parameters<typeof backUp>[0]> = {}) =>
    backUp({ dataDir: place.dataDir, target, ...options })
  const restored = () => path.join(folder, 'restored')
  const manifests = () =>
    readdirSync(path.join(target, 'backups')).map((name) =>
      JSON.parse(readFileSync(path.join(target, 'backups', name), 'utf8')),
    )
  const blocks = () =>
    readdirSync(path.join(target, 'blocks'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))

  test('is made, verified, listed and restored by the command line', async () => {
    const made = await runCommand(['backup', target, '--verify'], place.env)
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /Restored and compared/)
    const at = ['--data-dir', restored()]
    const listed = await runCommand([...at, 'restore', target, '--list'], {})
    assert.match(listed.stdout, new RegExp(`^${manifests()[0].name} `, 'm'))
    const result = await runCommand([...at, 'restore', target], {})
    assert.equal(result.code, 0, result.stderr)
    assert.match(result.stdout, /1 links, [0-9]+ counted clicks/)
  })

  test('restores links, counts and the secret key, and numbers new links far above', async () => {
    await backUpHere()
    await restoreInto({ source: target, dataDir: restored() })
    const key = (dataDir: string) => readFileSync(path.join(dataDir, 'secret.key'), 'utf8')
    assert.equal(key(restored()), key(place.dataDir))
    const before = await link.counters().catch(() => undefined)
    await makeInstance({ TERSE_DATA_DIR: restored() }, async ({ store }) => {
      const { scope } = link
      if (scope.kind !== 'link') throw new Error('a link has the scope of a link')
      const today = Math.floor(Date.now() / 86_400_000)
      const days = await store.read.reports.readDays(scope, today - DAYS - 1, today, {
        slots: false,
      })
      assert.equal(days.reduce((sum, { total }) => sum + total.persons, 0) % DAYS, 0)
      const next = await createTestLink(store, systemClock())
      assert.ok(next.seq > link.seq + LINK_NUMBERS_SKIPPED)
    })
    assert.equal(before, undefined)
  })

  test('stores a finished day once, and does not read it again', async () => {
    const first = await backUpHere()
    const records = readBackupRecords(place.dataDir)
    const days = Object.entries(records.days?.files ?? {})
    assert.equal(days.length, DAYS)
    const [day = '', record] = days[0] ?? []
    assert.ok(record)
    // A hash that the file does not have is taken over only if the file is not read.
    const sha256 = '0'.repeat(64)
    const files = { ...records.days?.files, [day]: { ...record, file: { ...record.file, sha256 } } }
    writeBackupRecords(place.dataDir, {
      ...records,
      days: { target: records.days?.target ?? '', files },
    })
    const second = await backUpHere()
    assert.ok(second.writtenBytes <= first.writtenBytes)
    const hashes = manifests().map(
      ({ content }) =>
        content.files.find(({ path }: { path: string }) => path === `clicks/${day}.db`).sha256,
    )
    assert.deepEqual(new Set(hashes), new Set([record.file.sha256, sha256]))
    await assert.rejects(
      restoreInto({ source: target, dataDir: restored() }),
      /does not have the hash that is in the manifest/,
    )
    const { isVerified } = await backUpHere({ verifies: true })
    assert.ok(isVerified, 'a damaged record is made again')
    await restoreInto({ source: target, dataDir: restored() })
  })

  test('reads a finished day again when late clicks have come', async () => {
    await backUpHere()
    const { days: before } = readBackupRecords(place.dataDir)
    await takeDays()
    const { isVerified } = await backUpHere({ verifies: true })
    assert.ok(isVerified)
    const { days: after } = readBackupRecords(place.dataDir)
    for (const [day, { rows }] of Object.entries(before?.files ?? {})) {
      assert.equal(after?.files[day]?.rows, rows + 1)
    }
  })

  test('keeps neither links from being created nor clicks from being counted', async () => {
    await makeInstance(place.env, async ({ store }) => {
      const pinned = await pinDataFolder(place.dataDir, new Map())
      try {
        const { seq } = await createTestLink(store, systemClock())
        const writer = await openWriterAt(place)
        await takeClicks(writer, [someClick({ at: systemClock().nowMicros(), link_seq: seq })])
        await writer.close()
        const links = pinned.databases?.links.read(
          (database) => database.prepare('select max(seq) as last from links').get()?.last,
        )
        assert.ok(Number(links) < seq, 'the pin does not see the new link')
      } finally {
        pinned.databases?.release()
        pinned.journals.release()
      }
    })
  })

  test('finds the file of a finished day complete while the service runs', async () => {
    const writer = await openWriterAt(place)
    try {
      const now = systemClock().nowMicros()
      await takeClicks(writer, [someClick({ at: now - DAY_MICROS, link_seq: link.seq })])
      const yesterday = new Date((now - DAY_MICROS) / 1_000).toISOString().slice(0, 10)
      const log = path.join(place.dataDir, 'clicks', `${yesterday}.db-wal`)
      assert.ok(existsSync(log))
      await writer.maintain(Math.floor(now / DAY_MICROS), undefined)
      assert.ok(!existsSync(log))
    } finally {
      await writer.close()
    }
  })

  test('removes what a killed backup left', async () => {
    await backUpHere()
    const work = path.join(target, 'work')
    mkdirSync(work)
    writeFileSync(path.join(work, 'copy.db'), 'cut off')
    const orphan = path.join(target, 'blocks', 'ff', 'f'.repeat(64))
    mkdirSync(path.dirname(orphan), { recursive: true })
    writeFileSync(orphan, 'of no backup')
    const partial = path.join(target, 'backups', `${manifests()[0].name}.json.1234.partial`)
    writeFileSync(partial, 'cut off')
    await backUpHere()
    for (const left of [work, orphan, partial]) assert.ok(!existsSync(left), left)
  })

  test('is not made into the target of another data folder, unless that is requested', async () => {
    await backUpHere()
    await restoreInto({ source: target, dataDir: restored() })
    const request = { dataDir: restored(), target }
    await assert.rejects(backUp(request), /another data folder.*--take-over/)
    await backUp({ ...request, takesOver: true })
    await assert.rejects(backUpHere(), /another data folder/)
  })

  test('does not touch the working copies of another data folder', async () => {
    await backUpHere()
    await restoreInto({ source: target, dataDir: restored() })
    const copy = path.join(target, 'work', 'terse.db')
    mkdirSync(path.dirname(copy))
    writeFileSync(copy, 'being stored')
    await assert.rejects(backUp({ dataDir: restored(), target }), /another data folder/)
    assert.ok(existsSync(copy))
  })

  test('is not made in its own data folder, however that is named', async () => {
    const link = path.join(folder, 'link')
    symlinkSync(place.dataDir, link)
    const inside = [place.dataDir, path.join(place.dataDir, 'a', 'b'), link, path.join(link, 'a')]
    for (const each of inside) {
      await assert.rejects(backUpHere({ target: each }), /which is in the data folder/, each)
      assert.ok(!existsSync(path.join(each, 'owner.json')))
    }
    for (const each of [path.dirname(place.dataDir), '/']) {
      await assert.rejects(backUpHere({ target: each }), /has the data folder .* in it/, each)
    }
    await backUpHere({ target: `${place.dataDir}-backups` })
    rmSync(`${place.dataDir}-backups`, { recursive: true })
  })

  test('is not made in its own data folder where that is mounted twice', async (t) => {
    const skip = skipWithoutMount()
    if (skip !== false) return t.skip(skip)
    const mounted = path.join(folder, 'mounted')
    mkdirSync(mounted)
    execFileSync('mount', ['--bind', place.dataDir, mounted])
    try {
      const within = path.join(mounted, 'backups')
      await assert.rejects(backUpHere({ target: within }), /which is in the data folder/)
    } finally {
      unmount(mounted)
    }
  })

  test('is not begun again where its disk is not mounted, unless that is requested', async () => {
    await backUpHere()
    rmSync(target, { recursive: true })
    await assert.rejects(backUpHere(), /backups in .* are gone.*is mounted.*--take-over/)
    assert.ok(!existsSync(target))
    await backUpHere({ takesOver: true })
    await backUpHere()
  })

  test('on a full disk fails with a message, and leaves earlier backups as they are', async (t) => {
    const skip = skipWithoutMount()
    if (skip !== false) return t.skip(skip)
    mountTmpfs(target, 'size=3m')
    try {
      await backUpHere({ verifies: false })
      const earlier = blocks().length
      const filler = path.join(target, 'filler')
      const { bavail, bsize } = statfsSync(target)
      writeFileSync(filler, Buffer.alloc(bavail * bsize - 64 * 1024))
      writeFileSync(path.join(place.dataDir, 'terse.env'), `# ${Math.random()}\n`)
      await assert.rejects(
        backUpHere(),
        /has no room for the backup.*Earlier backups are unchanged/,
      )
      assert.equal(blocks().length, earlier)
      rmSync(filler)
      await restoreInto({ source: target, dataDir: restored() })
    } finally {
      unmount(target)
    }
  })

  describe('that is restored', () => {
    beforeEach(() => backUpHere())

    test('is refused when a block is damaged or missing', async () => {
      const [largest = ''] = blocks().sort(
        (a, b) => readFileSync(b).length - readFileSync(a).length,
      )
      const bytes = readFileSync(largest)
      bytes.writeUInt8((bytes[100] ?? 0) ^ 1, 100)
      writeFileSync(largest, bytes)
      const request = { source: target, dataDir: restored() }
      await assert.rejects(
        restoreInto(request),
        /cannot be restored: a block of .* is damaged: blocks\//,
      )
      truncateSync(largest, 10)
      await assert.rejects(restoreInto(request), /is damaged/)
      rmSync(largest)
      await assert.rejects(restoreInto(request), /is missing/)
      const start = makeInstance({ TERSE_DATA_DIR: restored() })
      await assert.rejects(start, /restore was cut off/)
    })

    test('is refused when its totals differ from those of its files', async () => {
      const [manifest] = manifests()
      manifest.content.totals.database.clicks += 1
      const file = path.join(target, 'backups', `${manifest.name}.json`)
      writeFileSync(file, JSON.stringify(manifest))
      await assert.rejects(
        restoreInto({ source: target, dataDir: restored() }),
        /differs from the totals/,
      )
    })

    test('names the folder whose disk is full, and what it needs', async (t) => {
      const skip = skipWithoutMount()
      if (skip !== false) return t.skip(skip)
      mountTmpfs(restored(), 'size=256k')
      try {
        await assert.rejects(
          restoreInto({ source: target, dataDir: restored() }),
          new RegExp(`The disk of ${restored()} has no room .*iB\\. Make room`),
        )
      } finally {
        unmount(restored())
      }
    })

    test('is not looked for in a folder that is missing', async () => {
      const source = path.join(folder, 'missing')
      const request = { source, dataDir: restored() }
      await assert.rejects(restoreInto(request), new RegExp(`There is no folder ${source}`))
    })

    test('writes to no path outside of the data folder', async () => {
      const [manifest] = manifests()
      manifest.content.files[0].path = '../../outside'
      const file = path.join(target, 'backups', `${manifest.name}.json`)
      writeFileSync(file, JSON.stringify(manifest))
      const request = { source: target, dataDir: restored() }
      await assert.rejects(restoreInto(request), /manifest .* is damaged/)
    })

    test('is refused by a folder that is not empty, except for settings', async () => {
      mkdirSync(restored())
      writeFileSync(path.join(restored(), 'terse.db'), '')
      const request = { source: target, dataDir: restored() }
      await assert.rejects(restoreInto(request), /empty data folder alone.*terse\.db/)
      rmSync(path.join(restored(), 'terse.db'))
      writeFileSync(path.join(restored(), 'terse.env'), 'TERSE_PORT=3001\n')
      await restoreInto(request)
      const settings = readFileSync(path.join(restored(), 'terse.env'), 'utf8')
      assert.equal(settings, 'TERSE_PORT=3001\n')
    })
  })
})
