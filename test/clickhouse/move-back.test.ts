import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { storedHistoryOf } from '../../src/app/database/stored-history.ts'
import { moveClicks } from '../../src/clicks/move/move-clicks.ts'
import { openClickDatabase } from '../../src/clicks/store/clickhouse/click-database.ts'
import { SCOPES } from '../../src/clicks/store/fold-days.ts'
import { startOfDay } from '../../src/clicks/tally/click-day.ts'
import { DAY, type Moves, openMoves } from '../support/clickhouse/moves.ts'
import { someClick } from '../support/clicks.ts'
import { ENGINES } from '../support/engines.ts'
import { INHERITED_ENV } from '../support/inherited-env.ts'
import { runCli } from '../support/run-cli.ts'

const MAIN = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
const KILLER = fileURLToPath(new URL('../support/kill-at-step.ts', import.meta.url))

for (const engine of ENGINES) {
  describe(`moving clicks back to ${engine.name}`, () => {
    let moves: Moves

    beforeEach(async () => {
      moves = await openMoves(engine)
    })
    afterEach(() => moves.close())

    function commandTo(place: 'clickhouse' | 'database') {
      const { env } = moves.place
      const { TERSE_CLICKS_URL: url = '', ...others } = env
      const common = { ...others, TERSE_CLICK_RETENTION_DAYS: '0' }
      return place === 'clickhouse'
        ? { args: ['clicks', 'move', '--to', url], env: { ...common, TERSE_CLICKS_URL: url } }
        : { args: ['clicks', 'move', '--to', 'database', '--from', url], env: common }
    }

    test('adds what ClickHouse has counted, and again nothing', async () => {
      const { own, stored, some, take, moveBack, expectAll } = moves
      for (let batch = 0; batch < 3; batch += 1) await take(own, some(batch, 120))
      const first = await moveBack()
      assert.deepEqual(first.differences, [])
      assert.ok(first.moved > 4)
      await expectAll(stored)
      const again = await moveBack()
      assert.deepEqual(again, { ...NONE, unchanged: first.moved })
      await expectAll(stored)
    })

    test('counts nothing twice from there to here and there again', async () => {
      const { own, moved, writer, stored, some, take, move, moveBack, expectAll } = moves
      for (let cycle = 0; cycle < 2; cycle += 1) {
        await take(writer, some(10 * cycle, 40))
        assert.deepEqual((await move()).differences, [])
        await take(own, some(10 * cycle + 1, 40))
        assert.deepEqual((await moveBack()).differences, [])
        await expectAll(stored)
      }
      assert.deepEqual((await move()).differences, [])
      await expectAll(moved)
      assert.deepEqual((await moveBack()).differences, [])
      await expectAll(stored)
    })

    test('loses nothing and counts nothing twice, wherever a command is killed', async () => {
      const { own, moved, writer, clickhouse, stored, some, take, expectAll } = moves
      await take(writer, some(1, 60))
      await take(own, some(2, 60))
      for (const place of ['database', 'clickhouse'] as const) {
        const { args, env } = commandTo(place)
        let kills = 0
        for (let step = 3; ; step += 13) {
          const child = spawn(process.execPath, ['--import', KILLER, MAIN, ...args], {
            env: { ...INHERITED_ENV, ...env, KILL_AT_STEP: String(step) },
            stdio: 'ignore',
          })
          const [code, signal] = await once(child, 'exit')
          if (signal === null) {
            assert.equal(code, 0)
            break
          }
          assert.equal(signal, 'SIGKILL')
          kills += 1
          // Otherwise the next one waits until this one has not been seen for half a minute.
          await clickhouse.command('truncate table move_runs')
        }
        assert.ok(kills > 3, `it was killed ${kills} times`)
        await expectAll(place === 'database' ? stored : moved)
      }
    })

    test('runs one command at a time', async () => {
      const { own, stored, some, take, expectAll } = moves
      await take(own, some(1, 60))
      const { args, env } = commandTo('database')
      const results = await Promise.all([runCli(args, env), runCli(args, env)])
      assert.deepEqual(
        results.map(({ code, stderr }) => (code === 0 ? '' : stderr)),
        ['', ''],
      )
      assert.ok(results.some(({ stdout }) => stdout.startsWith('0 days copied')))
      await expectAll(stored)
    })

    test('adds what is counted on both sides while it runs', async () => {
      const { own, writer, stored, some, take, moveBack, expectAll, openTarget } = moves
      await take(own, some(1, 60))
      const target = openTarget()
      let transactions = 0
      const { differences } = await moveBack({
        target: {
          ...target,
          async transaction(work) {
            transactions += 1
            if (transactions === 5) await take(own, some(2, 40))
            if (transactions === 6) await take(writer, some(3, 40))
            return target.transaction(work)
          },
        },
      })
      assert.deepEqual(differences, [])
      assert.ok(transactions > 6)
      await expectAll(stored)
    })

    test('brings back no link or workspace that was deleted', async () => {
      const { own, stored, some, take, moveBack, erase, expectAll } = moves
      await take(own, some(1, 120))
      await erase(0, 'link')
      assert.deepEqual((await moveBack()).differences, [])
      await expectAll(stored)
      // Writers know the owners of links for a while.
      const ofOthers = some(2, 60).filter(({ link_seq }) => link_seq !== moves.links[0]?.seq)
      await take(own, ofOthers)
      await erase(3, 'workspace')
      assert.deepEqual((await moveBack()).differences, [])
      await expectAll(stored)
      const left = await stored.db.selectFrom('returned_tallies').select('workspace_id').execute()
      const { workspace_id: erased = '' } = moves.links[3] ?? {}
      assert.ok(left.length > 0)
      assert.ok(left.every(({ workspace_id }) => workspace_id !== erased))
    })

    test('brings back days whose single clicks are gone', async () => {
      const { own, moved, writer, stored, some, take, move, moveBack, dropBefore, expectAll } =
        moves
      await take(own, some(1, 120))
      await dropBefore(20_001)
      assert.deepEqual((await moveBack()).differences, [])
      await expectAll(stored)
      await take(
        writer,
        some(2, 40).filter(({ at }) => at >= startOfDay(20_001)),
      )
      assert.deepEqual((await move()).differences, [])
      await expectAll(moved)
      // A day of which ClickHouse has folded clicks of its own.
      const { seq: link_seq = 0 } = moves.links[0] ?? {}
      await take(writer, [someClick({ at: startOfDay(20_000), link_seq })])
      assert.deepEqual((await move()).differences, [])
    })

    test('shows what came back in no live view', async () => {
      const { own, stored, links, take, moveBack } = moves
      const { feed } = stored.store.read
      const fromMicros = startOfDay(DAY)
      const position = await feed.end(fromMicros)
      const { seq: link_seq = 0, workspace_id = '' } = links[0] ?? {}
      await take(own, [someClick({ at: fromMicros + 1, link_seq })])
      assert.equal((await moveBack()).clicks, 1)
      const wanted = { workspaceIds: [workspace_id], fromMicros, linkValues: false }
      await feed.since(position, wanted, (page) => assert.deepEqual(page, []))
    })

    test('copies what came back to another ClickHouse', async () => {
      const { own, writer, plain, stored, some, take, moveBack, nowMicros } = moves
      await take(writer, some(1, 60))
      await take(own, some(2, 60))
      await moveBack()
      const another = await engine.createMigratedPlace()
      assert.ok(another.clicks)
      const clickhouse = openClickDatabase(another.clicks, { timeoutMs: 60_000, connectionsMax: 2 })
      try {
        const { clicks, differences } = await moveClicks({
          db: stored.db,
          ...{ source: storedHistoryOf(stored, plain, undefined), clickhouse, nowMicros },
          ...{ hasSwitched: true, signal: new AbortController().signal },
          ...{ onWait() {}, onProgress() {} },
        })
        assert.deepEqual(differences, [])
        const rows = await clickhouse.rows(
          'select sum(persons + others) as sum from click_counts where scope = 0',
        )
        const counted = [...some(1, 60), ...some(2, 60)]
        assert.deepEqual(rows, [{ sum: counted.reduce((sum, { count }) => sum + count, 0) }])
        assert.ok(clicks > 60)
      } finally {
        await clickhouse.close()
        await another.remove()
      }
    })

    test('leaves the days that may still change, until the service counts in the database', async () => {
      const { own, links, take, moveBack } = moves
      const { seq: link_seq = 0 } = links[0] ?? {}
      const at = startOfDay(DAY + 1)
      await take(own, [someClick({ at, link_seq })])
      const first = await moveBack({ hasSwitched: false })
      assert.deepEqual({ moved: first.moved, left: first.left }, { moved: 0, left: 1 })
      const second = await moveBack()
      assert.deepEqual({ moved: second.moved, left: second.left }, { moved: 1, left: 0 })
    })

    test('reports what differs', async () => {
      const { own, some, take, moveBack, openTarget } = moves
      await take(own, some(1, 60))
      await moveBack()
      const target = openTarget()
      await target.transaction(async ({ db }) => {
        const isDay = { day: DAY, scope: SCOPES.workspace }
        await db
          .deleteFrom('click_days')
          .where((eb) => eb.and(isDay))
          .execute()
        await db
          .updateTable('returned_tallies')
          .set({ persons: 1_000 })
          .where((eb) => eb.and({ day: 0, scope: SCOPES.domain }))
          .execute()
      })
      await target.close()
      const { differences } = await moveBack()
      const found = new Set(differences.map(({ day, kind }) => `${day} ${kind}`))
      assert.deepEqual([...found].sort(), [`0 domain`, `${DAY} workspace`])
    })
  })
}

const NONE = { moved: 0, unchanged: 0, left: 0, clicks: 0, differences: [] }
