import assert from 'node:assert/strict'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { openMemoryCopy } from '../../src/app/node/memory-copy-file.ts'
import type { CopyState, MemoryCopy } from '../../src/platform/cache/memory-copy.ts'
import { createFolder } from '../support/engines.ts'
import { same } from './same.ts'

const STATE: CopyState = {
  cursor: 'here',
  readAtMicros: 1_750_000_000_123_457,
  serviceHost: 'go.example',
  serviceKeyspaceId: 7,
}
const KINDS = ['host', 'link', 'certificate'] as const
const DATABASE = 'postgres://one@db.example/terse'

describe('the copy of memory on disk', () => {
  let dataDir: string
  let opened: MemoryCopy[]
  beforeEach(() => {
    dataDir = createFolder()
    opened = []
  })
  afterEach(() => {
    for (const copy of opened) copy.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  function open(databaseUrl = DATABASE): MemoryCopy {
    const copy = openMemoryCopy({ dataDir, databaseUrl })
    opened.push(copy)
    return copy
  }

  function closeAll(): void {
    for (const copy of opened.splice(0)) copy.close()
  }

  function saveAll(copy: MemoryCopy): void {
    while (copy.save(STATE));
  }

  /** What a later process finds. */
  function found(): Record<string, string> {
    closeAll()
    const copy = open()
    const found = KINDS.flatMap((kind) =>
      [...copy.entries(kind)].map(({ name, value }) => [`${kind} ${name}`, value] as const),
    )
    return Object.fromEntries(found)
  }

  test('gives a later process what was set last, and the state that belongs to it', () => {
    const copy = open()
    assert.equal(copy.state, undefined)
    copy.set('host', 'a.example', 'host')
    copy.set('link', 'a.example', 'link')
    copy.set('certificate', 'a.example', 'certificate')
    copy.set('link', '1/old', 'old')
    saveAll(copy)
    copy.set('link', '1/old', undefined)
    copy.set('link', '1/new', 'first')
    copy.set('link', '1/new', 'second')
    saveAll(copy)
    same(found(), {
      'host a.example': 'host',
      'link a.example': 'link',
      'link 1/new': 'second',
      'certificate a.example': 'certificate',
    })
    same(opened[0]?.state, STATE)
  })

  test('forgets everything, the state too, but not what is set after it', () => {
    const copy = open()
    copy.set('link', '1/a', 'a')
    copy.set('certificate', 'a.example', 'certificate')
    saveAll(copy)
    copy.set('link', '1/b', 'b')
    copy.clear()
    copy.set('link', '1/c', 'c')
    saveAll(copy)
    same(found(), { 'link 1/c': 'c' })
  })

  test('writes the state down once nothing waits that belongs to it', () => {
    const copy = open()
    for (let number = 0; number < 600; number += 1) copy.set('link', `1/${number}`, 'link')
    assert.equal(copy.save(STATE), true)
    closeAll()
    const next = open()
    assert.equal(next.state, undefined, 'what it tells of was not all written')
    assert.ok([...next.entries('link')].length > 0)
  })

  test('belongs to one process at a time, and is found again', () => {
    const one = open()
    const other = open()
    one.set('link', '1/one', 'one')
    other.set('link', '1/other', 'other')
    saveAll(one)
    saveAll(other)
    same(found(), { 'link 1/one': 'one' })
    same(
      [...open().entries('link')].map(({ name }) => name),
      ['1/other'],
    )
  })

  test('is begun anew where an earlier release has written it', () => {
    const copy = open()
    copy.set('link', '1/a', 'a')
    saveAll(copy)
    closeAll()
    const database = new DatabaseSync(path.join(dataDir, 'link-copy', '0.db'))
    database.exec("update state set value = '1' where name = 'format'")
    database.close()
    const next = open()
    assert.equal(next.state, undefined)
    same([...next.entries('link')], [])
  })

  test('is begun anew for another database, and where the file is damaged', () => {
    const copy = open()
    copy.set('link', '1/a', 'a')
    saveAll(copy)
    closeAll()
    const elsewhere = open('postgres://one@db.example/other')
    assert.equal(elsewhere.state, undefined)
    same([...elsewhere.entries('link')], [])
    elsewhere.set('link', '1/b', 'b')
    saveAll(elsewhere)
    closeAll()
    const folder = path.join(dataDir, 'link-copy')
    for (const name of readdirSync(folder)) writeFileSync(path.join(folder, name), 'no database')
    same(found(), {})
    opened[0]?.set('link', '1/c', 'c')
    for (const one of opened) saveAll(one)
    const names = readdirSync(folder)
    assert.ok(names.includes('0.db-wal'))
    for (const name of names) {
      assert.equal(
        statSync(path.join(folder, name)).mode & 0o077,
        0,
        `nobody else can read ${name}`,
      )
    }
  })
})
