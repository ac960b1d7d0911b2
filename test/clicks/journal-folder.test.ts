import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  createJournal,
  journalsRoot,
  listJournals,
  lockJournal,
  removeLeftovers,
  takeOverJournals,
} from '../../src/clicks/journal/journal-folder.ts'
import { totalBacklogBytes } from '../../src/clicks/journal/journal-reader.ts'
import { createFolder } from '../support/engines.ts'
import type { OwnerMessage } from './journal-owner.ts'

const OWNER = fileURLToPath(new URL('./journal-owner.ts', import.meta.url))
/** How often each of several concurrent processes repeats its task. */
const TURNS = 200

describe('journal folders', () => {
  let dataDir: string
  let root: string
  let children: ChildProcess[]
  beforeEach(() => {
    dataDir = createFolder()
    root = journalsRoot(dataDir)
    children = []
  })
  afterEach(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** Starts another process that runs one task on the journals and reports its result. */
  function other(...task: string[]) {
    const child = fork(OWNER, [root, ...task])
    children.push(child)
    const report = once(child, 'message').then(([message]) => message as OwnerMessage)
    return { child, report }
  }

  test('have one owner at a time within one process', () => {
    const journal = createJournal(root)
    assert.deepEqual(takeOverJournals(root), [])
    journal.release()
    const [again] = takeOverJournals(root)
    assert.equal(again?.id, journal.id)
    again?.release()
  })

  test('can be released twice, also after they were removed', () => {
    const journal = createJournal(root)
    journal.release()
    journal.release()
    const [again] = takeOverJournals(root)
    again?.remove()
    again?.release()
    assert.deepEqual(listJournals(root), [])
  })

  test('can be read by their owner alone', () => {
    const journal = createJournal(root)
    assert.equal(statSync(journal.folder).mode & 0o777, 0o700)
    journal.release()
  })

  test('leave nothing behind when the folder cannot be created', () => {
    mkdirSync(path.join(root, 'taken', 'already'), { recursive: true })
    assert.throws(() => createJournal(root, 'taken'), { code: 'ENOTEMPTY' })
    assert.deepEqual(readdirSync(root), ['taken'])
  })

  test('are an empty list before the first start', () => {
    assert.deepEqual(listJournals(root), [])
    assert.deepEqual(takeOverJournals(root), [])
  })

  test('stay with a living process, and are adopted from a killed one', async () => {
    const { child, report } = other('hold')
    const { ids } = await report
    assert.equal(ids.length, 1)
    assert.deepEqual(listJournals(root), ids)
    assert.deepEqual(takeOverJournals(root), [])

    child.kill('SIGKILL')
    await once(child, 'exit')

    const adopted = takeOverJournals(root)
    assert.deepEqual(
      adopted.map((journal) => journal.id),
      ids,
    )
    for (const journal of adopted) journal.release()
  })

  test('never have two owner processes at the same time', async () => {
    for (const journal of [createJournal(root), createJournal(root), createJournal(root)]) {
      journal.release()
    }
    const turns = String(TURNS)
    const both = [other('contend', turns), other('contend', turns)]
    const reports = await Promise.all(both.map(({ report }) => report))
    assert.deepEqual(
      reports.flatMap(({ faults }) => faults),
      [],
    )
    assert.equal(new Set(reports.flatMap(({ ids }) => ids)).size, 3)
    assert.equal(listJournals(root).length, 3)
  })

  test('can be created and removed while another process looks for orphans', async () => {
    mkdirSync(root)
    const making = other('create-and-remove', String(TURNS))
    const looking = other('contend', String(TURNS * 5))
    const made = await making.report
    assert.deepEqual([...made.faults, ...(await looking.report).faults], [])
    assert.equal(made.ids.length, TURNS)
  })

  /** Repeats a task for as long as another process creates and removes journals. */
  async function whileOthersCome(work: () => void): Promise<void> {
    mkdirSync(root)
    const { report } = other('create-and-remove', String(TURNS))
    let message: OwnerMessage | undefined
    report.then((received) => {
      message = received
    })
    while (message === undefined) {
      work()
      await turn()
    }
    assert.deepEqual(message.faults, [])
    assert.equal(message.ids.length, TURNS)
  }

  test('can be created while another process starts and removes those of killed processes', () =>
    whileOthersCome(() => removeLeftovers(root)))

  test('can be created and removed while another process measures the backlog of all of them', () =>
    whileOthersCome(() => assert.equal(totalBacklogBytes(dataDir, new Map()), 0)))

  test('of killed processes can be removed by several processes at the same time', async () => {
    for (let count = 0; count < TURNS; count += 1) createJournal(root).release()
    const [one, two] = await Promise.all([other('clear').report, other('clear').report])
    assert.deepEqual([...one.faults, ...two.faults], [])
    assert.equal(one.ids.length + two.ids.length, TURNS)
    assert.deepEqual(listJournals(root), [])
  })

  test('no longer exist once they are removed', () => {
    const journal = createJournal(root)
    journal.remove()
    assert.equal(existsSync(journal.folder), false)
    assert.deepEqual(takeOverJournals(root), [])
  })

  test('look locked to releases that cannot read their frames', () => {
    const journal = createJournal(root)
    journal.release()
    // As releases did that wrote frames of TRS2.
    const before = new DatabaseSync(path.join(journal.folder, 'lock'), { timeout: 0 })
    assert.throws(() => before.exec('pragma journal_mode = memory; begin exclusive'), {
      errstr: 'file is not a database',
    })
    before.close()
    const again = lockJournal(root, journal.id)
    assert.ok(again)
    assert.equal(lockJournal(root, journal.id), undefined)
    again.release()
  })

  test('of such releases have one owner process at a time, too', () => {
    const folder = path.join(root, 'before')
    mkdirSync(folder, { recursive: true })
    const before = new DatabaseSync(path.join(folder, 'lock'), { timeout: 0 })
    before.exec('pragma journal_mode = memory; begin exclusive')
    assert.equal(lockJournal(root, 'before'), undefined)
    before.close()
    const taken = lockJournal(root, 'before')
    assert.ok(taken)
    taken.remove()
    assert.deepEqual(listJournals(root), [])
  })

  test('are removed at the next start when their process was killed while creating them', () => {
    const beginning = path.join(root, 'begun.1.beginning')
    mkdirSync(beginning, { recursive: true })
    writeFileSync(path.join(beginning, 'lock'), 'This journal is for others.\n')
    removeLeftovers(root)
    assert.equal(existsSync(beginning), false)
  })
})
