import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LinkInput } from '../../src/links/index.ts'
import { describeStore, type StoreUnderTest } from '../support/store.ts'
import { FakeSource, linkRecord } from './fake-source.ts'
import { importServices, outcomesOf } from './import-services.ts'

const A = 'https://a.example/'
const B = 'https://b.example/'

/** Links as imports of earlier versions left them, with what was kept beside them, by key. */
type Kept = Readonly<Record<string, Readonly<Record<string, unknown>>>>

async function earlierImport(
  at: StoreUnderTest,
  source: string,
  kept: Kept,
  values: Parameters<typeof linkRecord>[0] | object = {},
) {
  const services = await importServices(at)
  const { importAll, importer, add, store, actor, linksByKey } = services
  const records = Object.entries(kept).map(([key, rest]) => linkRecord({ key, rest, ...values }))
  await importAll(Object.assign(new FakeSource(records), { name: source }))

  async function revive(overrides: { is_dry_run?: number; resume?: string } = {}) {
    const signal = new AbortController().signal
    const ended = await importer.revive(await add({ source: 'revive', ...overrides }), { signal })
    return { ended, rows: await store.read.importRows.list(ended.id, 0, 10_000) }
  }

  async function restOf(key: string): Promise<unknown> {
    const { seq = -1 } = (await linksByKey()).get(key) ?? {}
    const [found] = await store.read.importRows.findByLink(actor.workspaceId, [seq])
    return found?.rest === null ? null : JSON.parse(found?.rest ?? 'null')
  }

  async function change(key: string, input: LinkInput): Promise<void> {
    const id = (await linksByKey()).get(key)?.id ?? ''
    const prepared = await services.writer.prepareUpdate(actor, id, input)
    await store.write(async (stores) => {
      const checked = await services.writer.checkUpdate(stores, actor, prepared)
      await services.writer.update(stores, actor, prepared, checked)
    })
  }

  const get = async (key: string) => (await linksByKey()).get(key)
  return { ...services, revive, restOf, change, get }
}

const VALID_SINCE = '2027-01-01T00:00:00+01:00'

describeStore('a revival', (at) => {
  test('makes rules and options of what an import kept, and keeps the rest', async () => {
    const kept = {
      geo: { geo: { DE: A, UK: B }, comments: 'For the fair', other: 1 },
      plain: { other: 1 },
    }
    const { revive, restOf, get } = await earlierImport(at, 'dub-api', kept, { ios: B })
    const { ended, rows } = await revive()
    assert.deepEqual([ended.status, ended.counts.updated], ['succeeded', 1])
    const link = await get('geo')
    assert.deepEqual(link?.rules, [
      { id: 'ios', when: { os: ['ios'] }, then: { url: B } },
      { id: 'de', when: { country: ['DE'] }, then: { url: A } },
    ])
    assert.deepEqual([link?.ios, link?.notes], [null, 'For the fair'])
    assert.deepEqual(await restOf('geo'), { geo: { UK: B }, other: 1 })
    assert.deepEqual(await restOf('plain'), { other: 1 })
    assert.equal((await get('plain'))?.ios, B)
    const [{ reason, place, outcome } = {}] = rows
    assert.deepEqual([outcome, place], ['updated', 'dub-api, geo'])
    assert.match(reason ?? '', /^Carried over: 2 rules, ios, notes\. "UK" at Dub is no country/)
  })

  test('writes nothing when it is run dry, and the report says the same', async () => {
    const kept = { limited: { maxVisits: 9, title: 'T' }, moon: { redirectRules: [moonRule] } }
    const { revive, restOf, get } = await earlierImport(at, 'shlink-api s.example', kept)
    const tried = await revive({ is_dry_run: 1 })
    assert.equal((await get('limited'))?.max_clicks, null)
    assert.deepEqual(await restOf('limited'), kept.limited)
    const done = await revive()
    const shown = ({ rows }: typeof tried) => rows.map(({ outcome, reason }) => [outcome, reason])
    assert.deepEqual(shown(tried), shown(done))
    assert.deepEqual(
      outcomesOf(done.rows).map((text) => text.split(' ')[1]),
      ['updated', 'skipped'],
    )
    assert.equal((await get('limited'))?.max_clicks, 9)
    assert.equal(await restOf('limited'), null)
    assert.deepEqual(await restOf('moon'), kept.moon)
  })

  test('puts devices back where they were among the rules of Shlink', async () => {
    const language = {
      longUrl: A,
      priority: 2,
      conditions: [{ type: 'language', matchValue: 'de' }],
    }
    const kept = {
      link: { redirectRules: [language], validSince: VALID_SINCE, forwardQuery: false },
    }
    const { revive, restOf, get } = await earlierImport(at, 'shlink-api', kept, {
      ...{ android: B, closed: 'It does not redirect yet.' },
    })
    const { rows } = await revive()
    const link = await get('link')
    assert.deepEqual(
      link?.rules?.map(({ when }) => when),
      [{ os: ['android'] }, { language: ['de'] }],
    )
    assert.deepEqual(
      [link?.android, link?.active_from, link?.query],
      [null, '2026-12-31T23:00:00.000000Z', 'drop'],
    )
    // What was closed stays closed.
    assert.notEqual(link?.expires_at, null)
    assert.match(rows[0]?.reason ?? '', /look at its expiry date/)
    assert.equal(await restOf('link'), null)
  })

  test('keeps a rule on a city while the service has no cities, and tries kept rules again', async () => {
    const conditions = [{ type: 'geolocation-city-name', matchKey: null, matchValue: 'Köln' }]
    const rules = [{ id: 'shlink-1', when: { country: ['DE'] }, then: { url: B } }]
    const kept = {
      city: { redirectRules: [{ longUrl: A, priority: 1, conditions }] },
      earlier: { rules },
    }
    const { revive, restOf, get } = await earlierImport(at, 'shlink-api', kept)
    const { rows } = await revive()
    assert.match(rows[0]?.reason ?? '', /The rule to .* left out: when\.city needs a database/)
    assert.equal((await get('city'))?.rules, null)
    const cityRule = { id: 'shlink-1', when: { city: ['Köln'] }, then: { url: A } }
    assert.deepEqual(await restOf('city'), { rules: [cityRule] })
    assert.deepEqual([(await get('earlier'))?.rules, await restOf('earlier')], [rules, null])
  })

  test('does nothing the second time, and leaves what was set since', async () => {
    const kept = { one: { geo: { DE: A } }, two: { geo: { DE: A }, comment: 'Old' } }
    const { revive, restOf, change, get, store, actor } = await earlierImport(at, 'sink', kept)
    await change('two', { notes: 'New', rules: [{ when: {}, then: { url: B } }] })
    const { rows } = await revive()
    assert.match(rows[1]?.reason ?? '', /rules in Terse, which stay.*notes is set in Terse/)
    const [one, two] = [await get('one'), await get('two')]
    assert.deepEqual([two?.notes, two?.rules?.[0]?.then], ['New', { url: B }])
    assert.deepEqual(await restOf('two'), kept.two)
    const again = await revive()
    assert.deepEqual([again.ended.counts.updated, again.rows.length], [0, 1])
    assert.deepEqual([await get('one'), await get('two')], [one, two])
    const events = await store.read.events.run({
      ...{ workspaceId: actor.workspaceId, limit: 100, beyond: undefined },
    })
    const updates = events.items.filter(({ type }) => type === 'link.updated')
    assert.equal(updates.length, 2)
  })

  test('leaves out a rule that Terse refuses, and goes on where it was', async () => {
    const kept = {
      first: { geo: { DE: A } },
      second: { geo: { DE: 'javascript:alert(1)', FR: A } },
    }
    const { revive, restOf, get } = await earlierImport(at, 'dub-api', kept)
    const { ended } = await revive({ resume: String((await get('first'))?.seq) })
    assert.equal(ended.counts.updated, 1)
    assert.equal((await get('first'))?.rules, null)
    assert.deepEqual(
      (await get('second'))?.rules?.map(({ id }) => id),
      ['fr'],
    )
    assert.deepEqual(
      ((await restOf('second')) as { rules: { id: string }[] }).rules.map(({ id }) => id),
      ['de'],
    )
  })

  test('judges a link again that changes while it is written', async () => {
    const { revive, change, get, writer } = await earlierImport(at, 'dub-api', {
      link: { geo: { DE: A }, comments: 'Old' },
    })
    const prepare = writer.prepareUpdate.bind(writer)
    let isChanged = false
    writer.prepareUpdate = async (...given) => {
      const prepared = await prepare(...given)
      if (!isChanged) {
        isChanged = true
        await change('link', { rules: [{ when: {}, then: { url: B } }] })
      }
      return prepared
    }
    await revive()
    const link = await get('link')
    assert.deepEqual([link?.rules?.[0]?.then, link?.notes], [{ url: B }, 'Old'])
  })

  test('judges a link again when what is kept beside it changes meanwhile', async () => {
    const kept = { quiet: { comments: 'Old', other: 1 }, loud: { comments: 'New' } }
    const imported = await earlierImport(at, 'dub-api', kept)
    const { revive, change, get, restOf, writer, store, actor } = imported
    // Nothing of this link changes, only what is kept beside it.
    await change('quiet', { notes: 'Old' })
    const { seq = -1 } = (await get('quiet')) ?? {}
    const prepare = writer.prepareUpdate.bind(writer)
    let isChanged = false
    writer.prepareUpdate = async (...given) => {
      if (!isChanged) {
        isChanged = true
        const [row] = await store.read.importRows.findByLink(actor.workspaceId, [seq])
        assert.ok(row !== undefined)
        await store.write(({ importRows }) => importRows.replaceKept(row, '{"other":2}'))
      }
      return prepare(...given)
    }
    const { ended } = await revive()
    assert.deepEqual([ended.status, ended.counts.updated], ['succeeded', 1])
    assert.deepEqual([await restOf('quiet'), await restOf('loud')], [{ other: 2 }, null])
    assert.equal((await get('loud'))?.notes, 'New')
  })
})

const moonRule = {
  longUrl: A,
  priority: 1,
  conditions: [{ type: 'moon', matchKey: null, matchValue: 'full' }],
}
