import assert from 'node:assert/strict'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { WarmStartFile } from '../../src/app/node/warm-start-file.ts'
import type { WarmStartState } from '../../src/storage/coherent-cache.ts'
import { createFolder } from '../support/engines.ts'
import { same } from './same.ts'

const STATE: WarmStartState = {
  cursor: 'here',
  readAtMicros: 1_750_000_000_123_457,
  serviceHost: 'go.example',
  serviceKeyspaceId: 7,
}
const KINDS = ['host', 'link', 'certificate'] as const
const DATABASE = 'postgres://one@db.example/terse'

describe('the warm start file', () => {
  let dataDir: string
  let opened: WarmStartFile[]
  beforeEach(() => {
    dataDir = createFolder()
    opened = []
  })
  afterEach(() => {
    for (const copy of opened) copy.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  function open(databaseUrl = DATABASE): WarmStartFile {
    const copy = WarmStartFile.open({ dataDir, databaseUrl })
    opened.push(copy)
    return copy
  }

  function closeAll(): void {
    for (const copy of opened.splice(0)) copy.close()
  }

  function saveAll(copy: WarmStartFile): void {
    while (copy.save(STATE));
  }

  /** What a later process reads. */
  function found(): Record<string, string> {
    closeAll()
    const copy = open()
    const found = KINDS.flatMap((kind) =>
      [...copy.values(kind).entries()].map(
        ({ name, value }) => [`${kind} ${name}`, value] as const,
      ),
    )
    return Object.fromEntries(found)
  }

  test('returns to a later process the values set last, and the state stored with them', () => {
    const copy = open()
    assert.equal(copy.state, undefined)
    copy.values('host').keep('a.example', () => 'host')
    copy.values('link').keep('a.example', () => 'link')
    copy.values('certificate').keep('a.example', () => 'certificate')
    copy.values('link').keep('1/old', () => 'old')
    saveAll(copy)
    copy.values('link').drop('1/old')
    copy.values('link').keep('1/new', () => 'first')
    copy.values('link').keep('1/new', () => 'second')
    saveAll(copy)
    same(found(), {
      'host a.example': 'host',
      'link a.example': 'link',
      'link 1/new': 'second',
      'certificate a.example': 'certificate',
    })
    same(opened[0]?.state, STATE)
  })

  test('drops all values and the state when cleared, but not what is set afterwards', () => {
    const copy = open()
    copy.values('link').keep('1/a', () => 'a')
    copy.values('certificate').keep('a.example', () => 'certificate')
    saveAll(copy)
    copy.values('link').keep('1/b', () => 'b')
    copy.clear()
    copy.values('link').keep('1/c', () => 'c')
    saveAll(copy)
    same(found(), { 'link 1/c': 'c' })
  })

  test('writes the state only after all values that belong to it', () => {
    const copy = open()
    for (let number = 0; number < 600; number += 1)
      copy.values('link').keep(`1/${number}`, () => 'link')
    assert.equal(copy.save(STATE), true)
    closeAll()
    const next = open()
    assert.equal(next.state, undefined, 'not all of its values are written')
    assert.ok([...next.values('link').entries()].length > 0)
  })

  test('is used by one process at a time, and found again', () => {
    const one = open()
    const other = open()
    one.values('link').keep('1/one', () => 'one')
    other.values('link').keep('1/other', () => 'other')
    saveAll(one)
    saveAll(other)
    same(found(), { 'link 1/one': 'one' })
    same(
      [...open().values('link').entries()].map(({ name }) => name),
      ['1/other'],
    )
  })

  test('is emptied when an earlier release has written it', () => {
    const copy = open()
    copy.values('link').keep('1/a', () => 'a')
    saveAll(copy)
    closeAll()
    const database = new DatabaseSync(path.join(dataDir, 'link-copy', '0.db'))
    database.exec("update state set value = '1' where name = 'format'")
    database.close()
    const next = open()
    assert.equal(next.state, undefined)
    same([...next.values('link').entries()], [])
  })

  test('is emptied for another database, and replaced when the file is damaged', () => {
    const copy = open()
    copy.values('link').keep('1/a', () => 'a')
    saveAll(copy)
    closeAll()
    const elsewhere = open('postgres://one@db.example/other')
    assert.equal(elsewhere.state, undefined)
    same([...elsewhere.values('link').entries()], [])
    elsewhere.values('link').keep('1/b', () => 'b')
    saveAll(elsewhere)
    closeAll()
    const folder = path.join(dataDir, 'link-copy')
    for (const name of readdirSync(folder)) writeFileSync(path.join(folder, name), 'no database')
    same(found(), {})
    opened[0]?.values('link').keep('1/c', () => 'c')
    for (const one of opened) saveAll(one)
    const names = readdirSync(folder)
    assert.ok(names.includes('0.db-wal'))
    for (const name of names) {
      assert.equal(
        statSync(path.join(folder, name)).mode & 0o077,
        0,
        `only the owner can read ${name}`,
      )
    }
  })
})
