import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { RefusedFiles } from '../../src/storage/file-fault.ts'
import { expectStatus } from '../support/api.ts'
import { copyFolder, serveFolder } from '../support/data-folder.ts'
import { createFolder } from '../support/engines.ts'
import {
  addLink,
  assembleFolder,
  COUNTED,
  type Moment,
  makeMoments,
  totalClicks,
} from '../support/folder-moments.ts'
import { runCommand } from '../support/run-command.ts'

describe('the files of a data folder', () => {
  let folder: string
  let made = 0
  const at = (moment: Moment) => path.join(folder, moment)
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

  function without(moment: Moment, name: string): string {
    const dataDir = whole(moment)
    rmSync(path.join(dataDir, name))
    return dataDir
  }

  /** Expects the start and the doctor to report the same, and to change nothing. */
  async function expectRefused(dataDir: string, file: string, text: RegExp): Promise<void> {
    const names = readdirSync(dataDir).filter((name) => !/shm$|^locks$/.test(name))
    await assert.rejects(
      serveFolder(dataDir, async () => {}),
      (error) => {
        assert.ok(error instanceof RefusedFiles, String(error))
        const fault = error.faults.find((found) => found.file === file)
        assert.match(fault?.text ?? '', text, JSON.stringify(error.faults))
        assert.match(error.message, /Nothing was changed\. Move the whole data folder away/)
        assert.match(error.message, /terse repair/)
        assert.doesNotMatch(error.message, /terse backup/, 'no command that would back it up')
        return true
      },
    )
    const { code, stdout } = await runCommand(['doctor'], { TERSE_DATA_DIR: dataDir })
    assert.equal(code, 1)
    assert.match(stdout, new RegExp(`^problem +files +${file.replaceAll('.', '\\.')}: `, 'm'))
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => !/shm$|^locks$/.test(name)),
      names,
    )
  }

  for (const moment of ['stopped', 'running', 'later', 'twin'] as const) {
    test(`are accepted unchanged: ${moment}`, async () => {
      const dataDir = whole(moment)
      const { stdout } = await runCommand(['doctor'], { TERSE_DATA_DIR: dataDir })
      assert.match(stdout, /^ok +files +in order, and from one moment$/m)
      await serveFolder(dataDir, async ({ api }) =>
        assert.equal(await totalClicks(api), COUNTED[moment]),
      )
    })
  }

  const day = () => `clicks/${readdirSync(path.join(at('later'), 'clicks'))[0]}`
  const mixes: {
    name: string
    make: () => string
    file: () => string
    text: RegExp
  }[] = [
    {
      name: 'terse.db from an earlier run',
      make: () => assemble({ terse: 'stopped', clicks: 'later', days: 'later' }),
      file: () => 'terse.db',
      text: /^it is of run 1, clicks\.db of run 2$/,
    },
    {
      name: 'clicks.db from an earlier run',
      make: () => assemble({ terse: 'later', clicks: 'stopped', days: 'later' }),
      file: () => 'clicks.db',
      text: /^it is of run 1, terse\.db of run 2$/,
    },
    {
      name: 'clicks.db and the day files from an earlier run',
      make: () => assemble({ terse: 'later', clicks: 'stopped', days: 'stopped' }),
      file: () => 'clicks.db',
      text: /^it is of run 1, terse\.db of run 2$/,
    },
    {
      name: 'the day files from an earlier run',
      make: () => assemble({ terse: 'later', clicks: 'later', days: 'stopped' }),
      file: day,
      text: /^it has 3 of the 12 rows of clicks that clicks\.db refers to$/,
    },
    {
      name: 'terse.db from an earlier moment of the same run',
      make: () => assemble({ terse: 'running', clicks: 'later', days: 'later' }),
      file: () => 'terse.db',
      text: /^it lacks [1-9]\d* changes and 2 links that clicks\.db refers to$/,
    },
    {
      name: 'clicks.db from an earlier moment of the same run',
      make: () => assemble({ terse: 'later', clicks: 'running', days: 'later' }),
      file: () => 'clicks.db',
      text: /^it is from before the end of the last run/,
    },
    {
      name: 'the day files from a later moment of the same run',
      make: () => assemble({ terse: 'running', clicks: 'running', days: 'later' }),
      file: () => 'clicks.db',
      text: /^it has not counted clicks that are in clicks\//,
    },
    {
      name: 'the day files from an earlier moment of the same run',
      make: () => assemble({ terse: 'later', clicks: 'later', days: 'running' }),
      file: day,
      text: /^it has 7 of the 12 rows of clicks that clicks\.db refers to$/,
    },
    {
      name: 'terse.db from another copy of the folder',
      make: () => assemble({ terse: 'twin', clicks: 'later', days: 'later' }),
      file: () => 'clicks.db',
      text: /^it is of another copy of the data folder than terse\.db \(both of run 2\)$/,
    },
    {
      name: 'clicks.db without its write-ahead log',
      make: () => without('running', 'clicks.db-wal'),
      file: () => 'clicks.db',
      text: /^it has not counted clicks that are in clicks\//,
    },
    {
      name: 'terse.db without its write-ahead log',
      make: () => without('running', 'terse.db-wal'),
      file: () => 'terse.db',
      text: /^it is of run 1, clicks\.db of run 2$/,
    },
    {
      name: 'a day file without its write-ahead log',
      make: () => without('running', `${day()}-wal`),
      file: day,
      text: /^it has 3 of the 7 rows of clicks that clicks\.db refers to$/,
    },
    {
      name: 'no clicks.db',
      make: () => without('later', 'clicks.db'),
      file: () => 'clicks.db',
      text: /^it holds the counted clicks$/,
    },
    {
      name: 'no terse.db',
      make: () => without('later', 'terse.db'),
      file: () => 'terse.db',
      text: /^it is missing, but files of clicks exist$/,
    },
    {
      name: 'a missing day file',
      make: () => without('later', day()),
      file: day,
      text: /^12 clicks of it are counted$/,
    },
  ]
  for (const { name, make, file, text } of mixes) {
    test(`are refused with ${name}`, () => expectRefused(make(), file(), text))
  }

  test('give no number of a lost link in a newer journal to a new link', async () => {
    const dataDir = whole('stopped')
    rmSync(path.join(dataDir, 'journal'), { recursive: true, force: true })
    copyFolder(at('running'), dataDir, /^journal$/)
    await serveFolder(dataDir, async ({ api }) => {
      const made = [await addLink(api), await addLink(api), await addLink(api)]
      // The journal is drained while the node runs, or when it stops.
      for (const { id } of made) {
        assert.equal(expectStatus(await api.get(`/links/${id}`), 200).body.clicks, 0)
      }
    })
    await serveFolder(dataDir, async ({ api }) => {
      assert.equal(await totalClicks(api), COUNTED.stopped)
      const { body } = expectStatus(await api.get('/links'), 200)
      const clicks = body.data.map((link: { clicks: number }) => link.clicks)
      assert.deepEqual(clicks, [0, 0, 0, COUNTED.stopped])
    })
  })

  test('from a release that did not mark its files are accepted, and marked from then on', async () => {
    const dataDir = whole('running')
    const execute = (name: string, statements: string) => {
      const database = new DatabaseSync(path.join(dataDir, name))
      database.exec(statements)
      database.close()
    }
    // The same state as the migration produces for such files.
    execute(
      'clicks.db',
      `update file_marks set run = 0, run_id = null, is_stopped = 0, batches = 0,
         changes_seen = 0, links_seen = 0;
       delete from raw_days`,
    )
    execute('terse.db', "delete from instance where name = 'file_mark'")
    await serveFolder(dataDir, async ({ api }) =>
      assert.equal(await totalClicks(api), COUNTED.running),
    )
    await serveFolder(dataDir, async ({ api }) =>
      assert.equal(await totalClicks(api), COUNTED.running),
    )
    rmSync(path.join(dataDir, 'clicks'), { recursive: true })
    await expectRefused(dataDir, day(), /^7 clicks of it are counted$/)
  })

  test('are complete without their write-ahead logs after a stop', async () => {
    const logs = execFileSync('find', [at('later'), '-name', '*-wal', '-o', '-name', '*-shm'])
    assert.equal(String(logs), '')
    const dataDir = path.join(folder, 'databases')
    copyFolder(at('later'), dataDir, /\.db$|^secret\.key$/)
    copyFolder(path.join(at('later'), 'clicks'), path.join(dataDir, 'clicks'), /\.db$/)
    assert.ok(!existsSync(path.join(dataDir, 'journal')))
    await serveFolder(dataDir, async ({ api }) =>
      assert.equal(await totalClicks(api), COUNTED.later),
    )
  })
})
