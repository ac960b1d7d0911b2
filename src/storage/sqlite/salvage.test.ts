import assert from 'node:assert/strict'
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createFolder } from '../../../test/support/engines.ts'
import { openToRead } from './connection.ts'
import { type Reading, readableRows } from './salvage.ts'

const ROWS = 12_000
const PAGE_BYTES = 4_096

describe('readableRows', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = createFolder()
    file = path.join(folder, 'some.db')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** @param distance between two row numbers */
  function createFile(distance = 1, textBytes = 50): void {
    const database = new DatabaseSync(file)
    database.exec(
      `pragma page_size = ${PAGE_BYTES}; create table things (id integer primary key, text text); begin`,
    )
    const insert = database.prepare('insert into things values (?, ?)')
    for (let nth = 1; nth <= ROWS; nth += 1)
      insert.run(nth * distance, textOf(nth * distance, textBytes))
    database.exec('commit')
    database.close()
  }

  const textOf = (id: number, bytes: number) => `${id} `.padEnd(bytes, 'x')

  function damagePages(...pages: number[]): void {
    const fd = openSync(file, 'r+')
    for (const page of pages)
      writeSync(fd, Buffer.alloc(PAGE_BYTES, 'x'), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES)
    closeSync(fd)
  }

  function readAll(textBytes = 50): { ids: number[]; reading: Reading } {
    const database = openToRead(file, 100)
    const reading = { rows: 0, gaps: 0 }
    try {
      const ids: number[] = []
      for (const { id, text } of readableRows(database, 'things', reading)) {
        assert.equal(text, textOf(Number(id), textBytes))
        ids.push(Number(id))
      }
      return { ids, reading }
    } finally {
      database.close()
    }
  }

  test('reads every row of an intact file', () => {
    createFile()
    const { ids, reading } = readAll()
    assert.equal(ids.length, ROWS)
    assert.deepEqual(reading, { rows: ROWS, gaps: 0 })
  })

  /** Some 70 rows are on a page. */
  const PAGE_ROWS_MAX = 100
  for (const distance of [1, 1_000]) {
    test(`skips only the rows of damaged pages, with row numbers that differ by ${distance}`, () => {
      createFile(distance)
      const pages = statSync(file).size / PAGE_BYTES
      // The first and the last page of rows, two side by side, and one by itself.
      damagePages(3, 100, 101, 150, pages)
      const { ids, reading } = readAll()
      assert.equal(new Set(ids).size, ids.length)
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => a - b),
      )
      assert.ok(ids.length > ROWS - 5 * PAGE_ROWS_MAX, `${ids.length} rows`)
      assert.ok(ids.length < ROWS)
      assert.ok(reading.gaps >= 3, `${reading.gaps} gaps`)
    })
  }

  test('skips a single row whose further pages are damaged', () => {
    createFile(1, 100)
    const database = new DatabaseSync(file)
    const long = textOf(ROWS / 2, 10 * PAGE_BYTES)
    database.prepare('update things set text = ? where id = ?').run(long, ROWS / 2)
    const pages = Number(database.prepare('pragma page_count').get()?.page_count)
    database.close()
    damagePages(pages - 3)
    const { ids } = readAll(100)
    assert.ok(ids.length >= ROWS - 1)
  })

  test('ends where no row can be read', () => {
    createFile()
    // The root of the table.
    damagePages(2)
    const { ids, reading } = readAll()
    assert.deepEqual(ids, [])
    assert.equal(reading.gaps, 1)
  })
})
