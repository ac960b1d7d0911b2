import assert from 'node:assert/strict'
import { globalAgent as globalHttp } from 'node:http'
import { globalAgent as globalHttps } from 'node:https'
import { test } from 'node:test'
import { OPENING_DAY } from '../../src/clicks/tally/click-day.ts'
import { openSource } from '../../src/imports/sources/open-source.ts'
import { countWithoutRows, spooledClicks } from '../clicks/click-import.ts'
import { SQLITE } from '../support/engines.ts'
import { importFixture, readTruth } from '../support/import-sources.ts'
import { describeStore } from '../support/store.ts'
import { importServices } from './import-services.ts'

const FIRST_DAY = 18_000
const LAST_DAY = 21_600

const SOURCES = [
  { kind: 'kutt-sqlite', file: 'kutt/kutt.db', truth: 'kutt/truth.csv', except: ['race'] },
  {
    kind: 'yourls-sql',
    file: 'yourls/yourls.sql',
    truth: 'yourls/truth.csv',
    except: ['café', 'café'],
  },
] as const

describeStore('the clicks of another service', (at, engine) => {
  // Both engines count alike; what differs is in test/clicks/imported-clicks.test.ts.
  if (engine !== SQLITE) return
  for (const { kind, file, truth, except } of SOURCES) {
    test(`add up to truth.csv for each link of ${kind}`, async () => {
      const counting = spooledClicks(at.store, at.place, (spoolId) =>
        countWithoutRows(at.store, at.place, spoolId),
      )
      const services = await importServices(at, counting)
      const source = await openSource(
        { kind, file: importFixture(file), timeZone: 'UTC' },
        { agents: { http: globalHttp, https: globalHttps } },
      )
      const { ended } = await services.importAll(source, { source: kind })
      assert.equal(ended.status, 'succeeded')
      const { workspaceId } = services.actor
      const { items } = await at.store.read.links.run({
        workspaceId,
        limit: 1_000,
        descending: false,
        beyond: undefined,
      })
      const links = new Map(items.map((link) => [`${link.domain}/${link.key}`, link]))
      const rows = readTruth(importFixture(truth))
      let compared = 0
      for (const { domain, key, clicks } of rows) {
        const host = domain === rows[0]?.domain ? services.host : domain
        const link = links.get(`${host}/${key}`)
        if (link === undefined || except.some((each) => each === key)) continue
        const scope = { kind: 'link', workspaceId, linkSeq: link.seq } as const
        const { reports } = at.store.read
        const days = await reports.readDays(scope, FIRST_DAY, LAST_DAY, { slots: false })
        const [opening] = await reports.readDays(scope, OPENING_DAY, OPENING_DAY, { slots: false })
        const sum = (of: 'persons' | 'others') => days.reduce((all, day) => all + day.total[of], 0)
        const persons = sum('persons') + (opening?.total.persons ?? 0)
        const found = await at.store.read.links.findById(workspaceId, link.id)
        assert.equal(found?.clicks, persons, key)
        assert.equal(persons + sum('others'), Number(clicks), key)
        compared += 1
      }
      assert.ok(compared > 40, `${compared} links`)
    })
  }
})
