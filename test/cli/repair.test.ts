import assert from 'node:assert/strict'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { RefusedFiles } from '../../src/storage/file-fault.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { serveFolder } from '../support/data-folder.ts'
import { createFolder } from '../support/engines.ts'
import {
  addLink,
  assembleFolder,
  COUNTED,
  type Moment,
  makeMoments,
  totalClicks,
} from '../support/folder-moments.ts'
import { freePort } from '../support/free-port.ts'
import { runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'

const NOT_A_DATABASE = Buffer.alloc(8_192, 'not a database ')

/** The counters of all links, newest first, and the number of exported clicks. */
type Counts = { counters: number[]; exported: number }

const COUNTS: Readonly<Record<'running' | 'later', Counts>> = {
  running: { counters: [1, 3, 3], exported: COUNTED.running },
  later: { counters: [2, 3, 1, 3, 3], exported: COUNTED.later },
}

describe('terse repair', () => {
  let folder: string
  let made = 0
  before(async () => {
    folder = createFolder()
    await makeMoments(folder)
  })
  after(() => rmSync(folder, { recursive: true }))

  function assemble(parts: { terse: Moment; clicks: Moment; days: Moment }): string {
    made += 1
    return assembleFolder(folder, parts, `set-${made}`)
  }

  const whole = (moment: Moment) => assemble({ terse: moment, clicks: moment, days: moment })

  const repair = (dataDir: string, ...args: string[]) =>
    runCommand(['repair', ...args], { TERSE_DATA_DIR: dataDir })

  /** As `repairFaults`, of files that a start refuses. Expects no change without `--yes`. */
  async function repairRefused(dataDir: string): Promise<string> {
    const start = () => serveFolder(dataDir, async () => {})
    await assert.rejects(start(), RefusedFiles)
    return repairFaults(dataDir, () => assert.rejects(start(), RefusedFiles))
  }

  /** Returns the output of a repair. */
  async function repairFaults(dataDir: string, afterPlan = async () => {}): Promise<string> {
    const plan = await repair(dataDir)
    assert.equal(plan.code, 1, plan.stderr)
    assert.match(
      plan.stdout,
      /Nothing was changed\. Copy the folder, then run: npx terse repair --yes/,
    )
    await afterPlan()
    const done = await repair(dataDir, '--yes')
    assert.equal(done.code, 0, done.stderr)
    assert.match(done.stdout, /Done\. Start the service\./)
    assert.match((await repair(dataDir)).stdout, /^No fault was found\.$/m)
    return done.stdout
  }

  async function countsOf(api: Api): Promise<Counts> {
    const { body } = expectStatus(await api.get('/links?per_page=100'), 200)
    const counters = body.data.map(({ clicks }: { clicks: number }) => clicks)
    const lines = String(expectStatus(await api.get('/clicks/export?format=ndjson'), 200).body)
    return { counters, exported: lines.split('\n').filter(Boolean).length }
  }

  test('leaves intact files unchanged', async () => {
    const { code, stdout } = await repair(whole('later'), '--yes')
    assert.equal(code, 0)
    assert.equal(stdout, 'No fault was found.\n')
  })

  test('accepts an older terse.db, and never gives the number of a lost link again', async () => {
    const dataDir = assemble({ terse: 'stopped', clicks: 'later', days: 'later' })
    const said = await repairRefused(dataDir)
    assert.match(said, /older +terse\.db: it is of run 1/)
    assert.match(said, /The links and changes that it lacks are lost/)
    await serveFolder(dataDir, async ({ api }) => {
      for (let count = 0; count < 4; count += 1) {
        const { id } = await addLink(api)
        assert.equal(expectStatus(await api.get(`/links/${id}`), 200).body.clicks, 0)
        const chart = expectStatus(await api.get(`/links/${id}/clicks`), 200).body
        assert.equal(chart.total.clicks, 0)
      }
      assert.equal(await totalClicks(api), COUNTED.later)
    })
  })

  test('is printed with the data folder that was named, by the processes of a service too', async () => {
    const dataDir = whole('later')
    writeFileSync(path.join(dataDir, 'clicks.db'), NOT_A_DATABASE)
    const at = ['--data-dir', dataDir]
    const plan = await runCommand(['repair', ...at], {})
    assert.ok(
      plan.stdout.endsWith(` run: npx terse repair --yes --data-dir ${dataDir}\n`),
      plan.stdout,
    )
    const serve = ['serve', '--processes', '2', ...at]
    const { stderr } = await runCli(serve, { TERSE_PORT: String(await freePort()) })
    assert.ok(stderr.includes(`"npx terse repair --data-dir ${dataDir}"`), stderr)
  })

  const cases: { name: string; moment: 'running' | 'later'; make: () => string }[] = [
    {
      name: 'an older clicks.db',
      moment: 'later',
      make: () => assemble({ terse: 'later', clicks: 'stopped', days: 'later' }),
    },
    {
      name: 'a clicks.db that is not a database',
      moment: 'later',
      make() {
        const dataDir = whole('later')
        writeFileSync(path.join(dataDir, 'clicks.db'), NOT_A_DATABASE)
        return dataDir
      },
    },
    {
      name: 'no clicks.db',
      moment: 'later',
      make() {
        const dataDir = whole('later')
        rmSync(path.join(dataDir, 'clicks.db'))
        return dataDir
      },
    },
    {
      name: 'a clicks.db with inconsistent counters',
      moment: 'running',
      make() {
        const dataDir = whole('running')
        const database = new DatabaseSync(path.join(dataDir, 'clicks.db'))
        database.exec('update link_clicks set clicks = clicks + 100')
        database.close()
        return dataDir
      },
    },
  ]
  for (const { name, moment, make } of cases) {
    test(`rebuilds the counters from the day files in place of ${name}`, async () => {
      const dataDir = make()
      assert.match(
        await repairRefused(dataDir),
        /counted again from|made again from the files in clicks\//,
      )
      await serveFolder(dataDir, async ({ api }) => {
        assert.equal(await totalClicks(api), COUNTED[moment])
        assert.deepEqual(await countsOf(api), COUNTS[moment])
      })
    })
  }

  /** Writes over the root page of a table. */
  function damageTable(file: string, table: string): void {
    const database = new DatabaseSync(file)
    database.exec('pragma wal_checkpoint(truncate)')
    const found = database.prepare('select rootpage from sqlite_schema where name = ?').get(table)
    const { page_size } = database.prepare('pragma page_size').get() ?? {}
    database.close()
    const fd = openSync(file, 'r+')
    const bytes = Number(page_size)
    writeSync(fd, Buffer.alloc(bytes, 'x'), 0, bytes, (Number(found?.rootpage) - 1) * bytes)
    closeSync(fd)
  }

  /** Removes the files of days, as after the time for which single clicks are kept. */
  function dropDays(dataDir: string): void {
    rmSync(path.join(dataDir, 'clicks'), { recursive: true })
    const database = new DatabaseSync(path.join(dataDir, 'clicks.db'))
    database.exec('delete from raw_days; update file_marks set dropped_before = 1e6')
    database.close()
  }

  for (const table of ['click_days', 'link_clicks', 'journal_positions', 'unsettled_days']) {
    test(`keeps the counters of links when ${table} of clicks.db is damaged, without the files of days`, async () => {
      const dataDir = whole('later')
      dropDays(dataDir)
      damageTable(path.join(dataDir, 'clicks.db'), table)
      assert.match(await repairFaults(dataDir), /\d+ rows can be read, all but those in 1 damaged/)
      await serveFolder(dataDir, async ({ api }) => {
        assert.deepEqual((await countsOf(api)).counters, COUNTS.later.counters)
      })
    })
  }

  test('keeps what clicks.db has more than the files of days', async () => {
    const dataDir = whole('later')
    const [name = ''] = readdirSync(path.join(dataDir, 'clicks'))
    const day = new DatabaseSync(path.join(dataDir, 'clicks', name))
    const { last } = day.prepare('select max(rowid) as last from clicks').get() ?? {}
    day.exec(`delete from clicks where rowid = ${last}; update taken set rows = rows - 1`)
    day.close()
    damageTable(path.join(dataDir, 'clicks.db'), 'click_days')
    await repairFaults(dataDir)
    await serveFolder(dataDir, async ({ api }) => {
      assert.deepEqual((await countsOf(api)).counters, COUNTS.later.counters)
    })
  })

  test('recounts links whose counter does not match', async () => {
    const dataDir = whole('running')
    const database = new DatabaseSync(path.join(dataDir, 'terse.db'))
    database.exec('update link_buckets set links = links + 7')
    database.close()
    assert.match(await repairRefused(dataDir), /miscounted terse\.db: it has 3 links, and 10 are/)
    await serveFolder(dataDir, async ({ api }) => {
      const { body } = expectStatus(await api.get('/links'), 200)
      assert.equal(body.meta.total, 3)
    })
  })

  test('continues journals from the position in a day file when clicks.db has lost it', async () => {
    const dataDir = whole('running')
    rmSync(path.join(dataDir, 'clicks.db-wal'))
    await repairRefused(dataDir)
    await serveFolder(dataDir, async ({ api }) => assert.equal(await totalClicks(api), 7))
    await serveFolder(dataDir, async ({ api }) =>
      assert.deepEqual(await countsOf(api), COUNTS.running),
    )
  })

  test('keeps the counts of a day whose file is lost or damaged', async () => {
    for (const damage of ['missing', 'damaged'] as const) {
      const dataDir = whole('later')
      const file = path.join(dataDir, 'clicks', readdirSync(path.join(dataDir, 'clicks'))[0] ?? '')
      if (damage === 'missing') rmSync(file)
      else writeFileSync(file, NOT_A_DATABASE)
      assert.match(await repairRefused(dataDir), /cannot be exported any more/)
      await serveFolder(dataDir, async ({ api }) =>
        assert.deepEqual(await countsOf(api), { ...COUNTS.later, exported: 0 }),
      )
      const aside = readdirSync(dataDir).filter((name) => name.startsWith('set-aside-'))
      assert.equal(aside.length, damage === 'missing' ? 0 : 1)
    }
  })

  test('creates no new terse.db in place of a damaged one', async () => {
    const dataDir = whole('later')
    writeFileSync(path.join(dataDir, 'terse.db'), NOT_A_DATABASE)
    const { code, stdout } = await repair(dataDir, '--yes')
    assert.equal(code, 1)
    assert.match(stdout, /^damaged +terse\.db: .*not a database/m)
    assert.match(stdout, /restore a backup/)
    assert.ok(!readdirSync(dataDir).some((name) => name.startsWith('set-aside-')))
  })

  test('says that it does not read clicks in ClickHouse', async () => {
    const dataDir = whole('running')
    writeFileSync(path.join(dataDir, 'clicks.db'), NOT_A_DATABASE)
    const refusal = /Clicks in ClickHouse \(TERSE_CLICKS_URL\) are not read/
    assert.doesNotMatch((await repair(dataDir)).stdout, refusal)
    const clicks = { TERSE_CLICKS_URL: 'clickhouse://terse@clickhouse.internal/terse' }
    const { stdout } = await runCommand(['repair'], { TERSE_DATA_DIR: dataDir, ...clicks })
    assert.match(stdout, refusal)
  })

  test('refuses files that a service has open, and PostgreSQL', async () => {
    const dataDir = whole('later')
    await serveFolder(dataDir, async () => {
      const { code, stderr } = await repair(dataDir, '--yes')
      assert.equal(code, 1)
      assert.match(stderr, /is running on this data folder\. Stop it first/)
    })
    const env = { TERSE_DATA_DIR: dataDir, TERSE_DATABASE_URL: 'postgres://127.0.0.1:1/none' }
    const { code, stderr } = await runCommand(['repair'], env)
    assert.equal(code, 1)
    assert.match(stderr, /in PostgreSQL/)
    const nowhere = path.join(folder, 'nowhere')
    assert.equal((await repair(nowhere)).code, 1)
    assert.ok(!existsSync(nowhere))
  })
})
