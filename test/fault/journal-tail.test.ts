import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Click } from '../../src/clicks/click.ts'
import { startClickIntake } from '../../src/clicks/ingest/click-intake.ts'
import {
  createJournal,
  damagedJournalsFolder,
  journalsRoot,
  segmentFile,
} from '../../src/clicks/journal/journal-folder.ts'
import { readBatch } from '../../src/clicks/journal/journal-reader.ts'
import type { JournalPosition } from '../../src/clicks/store/click-store.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { createTestLink } from '../clicks/test-link.ts'
import { clicksOf, encodeFrame } from '../support/click-frames.ts'
import { someClick } from '../support/clicks.ts'
import { drainWorkers } from '../support/drain-worker.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { SEED } from '../support/random.ts'
import { describeStore } from '../support/store.ts'

const TAIL_BYTES = 4096
const SEGMENT = 1
/** Number of damages that go through the whole intake, on each engine. */
const INTAKES = 8

type Frame = { readonly start: number; readonly end: number; readonly clicks: readonly Click[] }

/** Writes a segment some frames longer than its damaged tail, with realistic clicks. */
function writeSegment(linkSeq: number): { bytes: Buffer; frames: readonly Frame[] } {
  const [sizes] = fc.sample(
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 30, maxLength: 30 }),
    {
      numRuns: 1,
      seed: SEED,
    },
  )
  const frames: Frame[] = []
  const parts: Buffer[] = []
  let end = 0
  for (const [index, size] of (sizes ?? []).entries()) {
    const clicks = Array.from({ length: size }, (_, count) =>
      someClick({
        at: 1_000 * (index + 1) + count,
        link_seq: linkSeq,
        visitor: 2 ** 52 + index,
        country: count % 2 === 0 ? 'DE' : '',
        device: 'mobile',
        os: 'iOS',
        browser: 'Safari',
        referrer: 'x'.repeat((index * 7) % 60),
        language: 'de',
      }),
    )
    const bytes = encodeFrame(clicks)
    parts.push(bytes)
    frames.push({ start: end, end: end + bytes.length, clicks })
    end += bytes.length
  }
  const bytes = Buffer.concat(parts)
  assert.ok(bytes.length > TAIL_BYTES * 1.5, `${bytes.length} bytes`)
  return { bytes, frames }
}

type Damage = { readonly what: string; readonly at: number; readonly bytes: Buffer }

/** The damages at one byte: the file is cut there, or the byte is changed. */
function damagesAt(bytes: Buffer, at: number): readonly Damage[] {
  const flipped = (mask: number) => {
    const copy = Buffer.from(bytes)
    copy[at] = (copy[at] ?? 0) ^ mask
    return copy
  }
  const [bit] = fc.sample(fc.nat({ max: 7 }), { numRuns: 1, seed: SEED + at })
  return [
    { what: 'cut', at, bytes: bytes.subarray(0, at) },
    { what: 'all bits flipped', at, bytes: flipped(0xff) },
    { what: `bit ${bit} flipped`, at, bytes: flipped(1 << (bit ?? 0)) },
  ]
}

/**
 * Returns the clicks that must be read, and the bytes that must be reported as damaged. A cut
 * between two frames leaves a valid file, which cannot be distinguished from one that was never cut.
 */
function expected(frames: readonly Frame[], damage: Damage): { clicks: Click[]; damaged: number } {
  const hit = frames.findIndex(({ end }) => damage.at < end)
  const { start, end } = frames[hit] as Frame
  return damage.what === 'cut'
    ? { clicks: frames.slice(0, hit).flatMap(({ clicks }) => clicks), damaged: damage.at - start }
    : { clicks: frames.toSpliced(hit, 1).flatMap(({ clicks }) => clicks), damaged: end - start }
}

const CLICKS_MAX = 5_000

describe('a damaged journal tail', () => {
  test('loses only the frame with the damage, at every byte of the last 4 KiB, and reports it', (t) => {
    const folder = createFolder()
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const { bytes, frames } = writeSegment(1)
    for (let at = bytes.length - TAIL_BYTES; at < bytes.length; at += 1) {
      for (const damage of damagesAt(bytes, at)) {
        writeFileSync(segmentFile(folder, SEGMENT), damage.bytes)
        const found = { clicks: [] as Click[], damaged: 0 }
        let position: JournalPosition | undefined
        for (;;) {
          const batch = readBatch(folder, position, SEGMENT + 1, CLICKS_MAX)
          if (batch === undefined) break
          found.clicks.push(...clicksOf(batch.clicks))
          found.damaged += batch.damaged
          position = batch.next
        }
        assert.deepEqual(found, expected(frames, damage), `${damage.what} at ${at}`)
      }
    }
  })
})

describeStore('the intake of a damaged journal', (at) => {
  let dataDir: string
  before(() => {
    dataDir = createFolder()
  })
  after(() => rmSync(dataDir, { recursive: true, force: true }))

  test('counts every click of intact frames, keeps the journal, and logs the damage', async () => {
    const clock = systemClock()
    const offsets = fc.sample(fc.noBias(fc.nat({ max: TAIL_BYTES - 1 })), {
      numRuns: INTAKES,
      seed: SEED,
    })
    for (const [index, offset] of offsets.entries()) {
      const link = await createTestLink(at.store, clock)
      const { bytes, frames } = writeSegment(link.seq)
      const damages = damagesAt(bytes, bytes.length - TAIL_BYTES + offset)
      const damage = damages[index % damages.length] as Damage
      const { clicks, damaged } = expected(frames, damage)
      const journal = createJournal(journalsRoot(dataDir))
      mkdirSync(journal.folder, { recursive: true })
      writeFileSync(segmentFile(journal.folder, SEGMENT), damage.bytes)
      journal.release()
      rmSync(damagedJournalsFolder(dataDir), { recursive: true, force: true })

      let reported = 0
      const intake = startClickIntake({
        keepMs: 0,
        dataDir,
        startWorker: drainWorkers(at.place),
        durability: 'process',
        onLost: (_count, error) => assert.fail(String(error)),
        onDoubt: (_count, error) => assert.fail(String(error)),
        onIngested: () => {},
        onError: (error) => assert.fail(String(error)),
        onDamage({ bytes: count }) {
          reported += count
        },
      })
      try {
        intake.startDraining()
        await eventually(async () => {
          assert.equal((await link.counters()).clicks, clicks.length)
        })
      } finally {
        await intake.stop()
      }

      assert.equal((await link.counters()).clicks, clicks.length, `${damage.what} at ${damage.at}`)
      assert.equal(reported, damaged)
      const kept = damaged === 0 ? [] : readdirSync(damagedJournalsFolder(dataDir))
      assert.equal(kept.length, damaged === 0 ? 0 : 1)
      for (const name of kept) {
        const copy = readFileSync(path.join(damagedJournalsFolder(dataDir), name))
        assert.deepEqual(copy, damage.bytes)
      }
    }
  })
})
