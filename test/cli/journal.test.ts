import assert from 'node:assert/strict'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  createJournal,
  journalsRoot,
  segmentFile,
} from '../../src/clicks/journal/journal-folder.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { clicksFrom } from '../clicks/some-clicks.ts'
import { createTestLink, type TestLink } from '../clicks/test-link.ts'
import { encodeFrame } from '../support/click-frames.ts'
import { createFolder, ENGINES } from '../support/engines.ts'
import { runCommand } from '../support/run-command.ts'
import { type Service, startService } from '../support/service.ts'

const FRAMES = 3
const CLICKS = 50
const DAY_MICROS = 24 * 60 * 60 * 1_000_000

for (const engine of ENGINES) {
  // The service keeps running throughout, as in production.
  describe(`terse journal replay on ${engine.title}`, () => {
    let service: Service
    let link: TestLink
    let elsewhere: string
    before(async () => {
      service = await startService(engine)
      elsewhere = createFolder()
    })
    after(async () => {
      await service.stop()
      rmSync(elsewhere, { recursive: true })
    })

    async function replay(folder: string, ...options: string[]) {
      const args = ['journal', 'replay', folder, '--json', ...options]
      const { code, stdout, stderr } = await runCommand(args, service.place.env)
      const journals: {
        id: string
        state: string
        clicks: number
        withoutLink: number
        damagedBytes: number
      }[] = stdout === '' ? [] : JSON.parse(stdout)
      return { code, journals, stderr }
    }

    /** Creates the data folder of a lost node, with clicks of three days ago in its journal. */
    async function orphanedFolder(): Promise<{ folder: string; id: string }> {
      link = await createTestLink(service.instance.store, systemClock())
      const folder = path.join(elsewhere, String(readdirSync(elsewhere).length))
      const journal = createJournal(journalsRoot(folder))
      const first = systemClock().nowMicros() - 3 * DAY_MICROS
      for (let segment = 1; segment <= FRAMES; segment += 1) {
        const clicks = clicksFrom(first + segment * 1_000, CLICKS, link.seq)
        writeFileSync(segmentFile(journal.folder, segment), encodeFrame(clicks))
      }
      journal.release()
      return { folder, id: journal.id }
    }

    const counted = async () => (await link.counters()).clicks

    test('counts every click once, however often and from whichever folder it runs', async () => {
      const { folder, id } = await orphanedFolder()
      const copy = `${folder}-copy`
      cpSync(folder, copy, { recursive: true })
      const files = readdirSync(path.join(journalsRoot(folder), id)).filter(
        (name) => name !== 'lock' && name !== 'owner',
      )
      const unknown = await replay(folder)
      assert.equal(unknown.code, 1)
      assert.deepEqual(unknown.journals, [
        { id, state: 'unknown', clicks: 0, withoutLink: 0, damagedBytes: 0 },
      ])
      assert.match(unknown.stderr, /--force/)
      assert.equal(await counted(), 0)

      const now = systemClock().nowMicros()
      await service.instance.nodes.beat({
        id,
        name: 'gone',
        process: 1,
        version: '0',
        started_at: now,
        backlog_bytes: 1,
        oldest_click_at: null,
        untrusted_proxy: null,
      })
      const all = FRAMES * CLICKS
      const first = await replay(folder)
      assert.equal(first.code, 0, first.stderr)
      assert.deepEqual(first.journals, [
        { id, state: 'replayed', clicks: all, withoutLink: 0, damagedBytes: 0 },
      ])
      assert.equal(await counted(), all)
      const nodes = await service.instance.nodes.list()
      assert.ok(!nodes.some((node) => node.id === id), 'the node has nothing left')

      const none = [{ id, state: 'replayed', clicks: 0, withoutLink: 0, damagedBytes: 0 }]
      for (const again of [
        folder,
        copy,
        journalsRoot(folder),
        `${path.join(journalsRoot(folder), id)}/`,
      ]) {
        assert.deepEqual((await replay(again)).journals, none)
      }
      assert.equal(await counted(), all)
      const left = readdirSync(path.join(journalsRoot(folder), id)).filter(
        (name) => name !== 'lock' && name !== 'owner',
      )
      assert.deepEqual(left, files, 'the files stay')
    })

    test('counts every click once when several run at the same time', async () => {
      const { folder } = await orphanedFolder()
      const copies = [1, 2].map((number) => `${folder}-${number}`)
      for (const copy of copies) cpSync(folder, copy, { recursive: true })
      await Promise.all(copies.map((copy) => replay(copy, '--force')))
      assert.equal(await counted(), FRAMES * CLICKS)
    })

    test('counts the rest of a journal of which a copy held only the first half', async () => {
      const { folder, id } = await orphanedFolder()
      const copy = `${folder}-early`
      cpSync(folder, copy, { recursive: true })
      const tail = segmentFile(path.join(journalsRoot(copy), id), FRAMES)
      const half = Math.floor(statSync(tail).size / 2)
      truncateSync(tail, half)
      const early = await replay(copy, '--force')
      assert.deepEqual(early.journals, [
        {
          id,
          state: 'replayed',
          clicks: (FRAMES - 1) * CLICKS,
          withoutLink: 0,
          damagedBytes: half,
        },
      ])
      const whole = await replay(folder)
      assert.deepEqual(whole.journals, [
        { id, state: 'replayed', clicks: CLICKS, withoutLink: 0, damagedBytes: 0 },
      ])
      assert.equal(await counted(), FRAMES * CLICKS)
    })

    test('finds nothing to count in a journal without clicks, however often it runs', async () => {
      const folder = path.join(elsewhere, 'unused')
      const journal = createJournal(journalsRoot(folder))
      journal.release()
      for (const _time of [1, 2]) {
        const { code, journals } = await replay(folder)
        assert.equal(code, 0)
        assert.deepEqual(journals, [
          { id: journal.id, state: 'replayed', clicks: 0, withoutLink: 0, damagedBytes: 0 },
        ])
      }
    })

    test('skips a journal that a process owns, and reports damage', async () => {
      const { folder, id } = await orphanedFolder()
      const own = await replay(service.place.dataDir)
      assert.equal(own.code, 1)
      assert.deepEqual(
        own.journals.map(({ state }) => state),
        ['in use'],
      )
      const file = segmentFile(path.join(journalsRoot(folder), id), 2)
      writeFileSync(file, 'no frame of ours')
      const { code, journals } = await replay(folder, '--force')
      assert.equal(code, 0)
      assert.deepEqual(journals, [
        { id, state: 'replayed', clicks: 2 * CLICKS, withoutLink: 0, damagedBytes: 16 },
      ])
      assert.equal(await counted(), 2 * CLICKS)
    })

    test('counts clicks of unknown links for no link, and reports them', async () => {
      const folder = path.join(elsewhere, String(readdirSync(elsewhere).length))
      const journal = createJournal(journalsRoot(folder))
      const { store } = service.instance
      const unknown = (await store.read.links.lastNumber()) + 1
      const clicks = clicksFrom(systemClock().nowMicros(), CLICKS, unknown)
      writeFileSync(segmentFile(journal.folder, 1), encodeFrame(clicks))
      journal.release()
      const { code, journals } = await replay(folder, '--force')
      assert.equal(code, 0)
      const report = { clicks: CLICKS, withoutLink: CLICKS, damagedBytes: 0 }
      assert.deepEqual(journals, [{ id: journal.id, state: 'replayed', ...report }])
      const next = await createTestLink(store, systemClock())
      assert.ok(next.seq > unknown, 'no new link gets the number')
      assert.equal((await next.counters()).clicks, 0)
    })

    test('refuses a folder without journals, and a journal under another name', async () => {
      const empty = path.join(elsewhere, 'empty')
      mkdirSync(empty)
      const { folder, id } = await orphanedFolder()
      const journal = path.join(journalsRoot(folder), id)
      renameSync(journal, path.join(journalsRoot(folder), 'renamed'))
      for (const place of [empty, path.join(elsewhere, 'none'), folder]) {
        const { code, stderr } = await replay(place, '--force')
        assert.equal(code, 1)
        assert.match(stderr, /^terse: There is no click journal in /)
      }
      assert.equal(await counted(), 0)
    })
  })
}
