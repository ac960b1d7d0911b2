import assert from 'node:assert/strict'
import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { salvageDay, surveyFile } from '../../src/app/database/sqlite/salvage-files.ts'
import { openDayDatabase } from '../../src/clicks/store/sqlite/raw-click-files.ts'
import { formatDay, startOfDay } from '../../src/clicks/tally/click-day.ts'
import { createFolder } from '../support/engines.ts'

const DAY = 20_000
const ROWS = 20_000
const PAGE_BYTES = 4_096
/** As many rows as are on a page, at most. */
const PAGE_ROWS_MAX = 200
const WORKSPACE = 'a workspace'

describe('the file of a day with damaged pages', () => {
  const name = `clicks/${formatDay(DAY)}.db`
  let dataDir: string
  before(() => {
    dataDir = createFolder()
    const file = openDayDatabase(path.join(dataDir, 'clicks'), DAY)
    file.exec('begin')
    file.prepare('insert into workspaces (number, id) values (7, ?)').run(WORKSPACE)
    file.exec("insert into taken values ('journal', 1, 2, 3, 3)")
    const insert = file.prepare(
      "insert into clicks values (?, ?, 7, 1, 0, ?, 'DE', 'mobile', 'iOS', 'Safari', '', 'de', 'direct', 1, 'phones', 'B', 'newsletter', 'US-CA', 'San Diego')",
    )
    for (let nth = 0; nth < ROWS; nth += 1) insert.run(startOfDay(DAY) + nth, nth, nth * 3)
    file.exec('commit')
    file.close()
    const fd = openSync(path.join(dataDir, name), 'r+')
    for (const page of [100, 200, 201]) {
      writeSync(fd, Buffer.alloc(PAGE_BYTES, 'x'), 0, PAGE_BYTES, page * PAGE_BYTES)
    }
    closeSync(fd)
  })
  after(() => rmSync(dataDir, { recursive: true }))

  test('is made again from all rows on other pages, without a gap', () => {
    const reading = surveyFile(dataDir, name)
    assert.ok(reading)
    assert.ok(reading.rows > ROWS - 3 * PAGE_ROWS_MAX, `${reading.rows} rows`)
    assert.equal(reading.gaps, 2)

    const aside = path.join(dataDir, 'aside.db')
    renameSync(path.join(dataDir, name), aside)
    mkdirSync(path.join(dataDir, 'clicks'), { recursive: true })
    salvageDay(dataDir, name, aside)

    const made = new DatabaseSync(path.join(dataDir, name))
    const rows = made.prepare('select rowid, * from clicks').all()
    assert.equal(rows.length, reading.rows)
    for (const [index, row] of rows.entries()) {
      const nth = Number(row.link_seq)
      assert.equal(row.rowid, index + 1)
      assert.partialDeepStrictEqual(
        { ...row },
        {
          at: startOfDay(DAY) + nth,
          visitor: nth * 3,
          workspace: 7,
          rule: 'phones',
          variant: 'B',
          label: 'newsletter',
          region: 'US-CA',
          city: 'San Diego',
        },
      )
    }
    assert.equal(new Set(rows.map(({ link_seq }) => link_seq)).size, rows.length)
    assert.deepEqual(
      { ...made.prepare('select * from workspaces').get() },
      { number: 7, id: WORKSPACE },
    )
    assert.equal(made.prepare('select position from taken').get()?.position, 2)
    assert.equal(made.prepare('pragma integrity_check').get()?.integrity_check, 'ok')
    made.close()
  })
})
