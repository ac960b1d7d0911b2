import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import type { FedClick } from '../../src/clicks/store/click-feed.ts'
import { someClick } from '../support/clicks.ts'
import { CLICKHOUSE, ENGINES } from '../support/engines.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { type Service, startService } from '../support/service.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'

const MINUTE_MICROS = 60 * 1_000_000
/** More than one page, and more than the first event shows. */
const MANY = 1_200

onEachEngine('the feed of clicks', (stage) => {
  test('returns each click once, in pages, and the minutes before a position', async () => {
    const { feed } = stage.service.instance.store.read
    const link = await createLink(stage.api)
    const link_seq = await seqOf(stage.service, link)
    const at = Math.floor(Date.now() / 60_000) * MINUTE_MICROS
    const fromMicros = at - 29 * MINUTE_MICROS
    const clicks = Array.from({ length: MANY }, (_, nth) =>
      someClick({ link_seq, at: at - (nth < MANY / 2 ? MINUTE_MICROS : 0) + nth, visitor: nth }),
    )
    const before = await feed.end(fromMicros)
    await takeIn(stage.service, [...clicks, someClick({ link_seq, at: fromMicros - 1 })])
    const wanted = { workspaceIds: [link.workspace_id], fromMicros, linkValues: false }
    const found: FedClick[] = []
    const position = await feed.since(before, wanted, (page) => found.push(...page))
    assert.equal(new Set(found.map(({ visitor }) => visitor)).size, MANY)
    assert.equal(found.length, MANY)
    await feed.since(position, wanted, (page) => assert.deepEqual(page, []))

    await takeIn(stage.service, [someClick({ link_seq, at })])
    const { workspace_id: workspaceId } = link
    const selection = {
      workspaceId,
      linkSeqs: undefined,
      keyspaceIds: undefined,
      filter: new Map(),
      linkFilter: new Map(),
      bots: 'include',
    } as const
    const recent = await feed.recent(position, selection, { fromMicros, latestMax: 3 })
    const minute = at / MINUTE_MICROS
    assert.deepEqual(
      [...recent.minutes].sort(([a], [b]) => a - b),
      [
        [minute - 1, MANY / 2],
        [minute, MANY / 2],
      ],
    )
    assert.deepEqual(
      recent.latest.map(({ visitor }) => visitor),
      [MANY - 1, MANY - 2, MANY - 3],
    )
  })
})

const engine = ENGINES.find(({ name }) => name === 'PostgreSQL')
if (engine === undefined) throw new Error('PostgreSQL is missing')

const isElsewhere = process.env[CLICKHOUSE.url] !== undefined && 'clicks are not in PostgreSQL'

describe('the feed of clicks, when transactions commit in another order', {
  skip: isElsewhere,
}, () => {
  let service: Service
  const clients: pg.Client[] = []
  before(async () => {
    service = await startService(engine)
    for (let nth = 0; nth < 2; nth += 1) {
      const client = new pg.Client({ connectionString: service.place.databaseUrl })
      await client.connect()
      clients.push(client)
    }
  })
  after(async () => {
    for (const client of clients) await client.end()
    await service.stop()
  })

  test('returns a click that was committed late, and no click twice', async () => {
    const { feed } = service.instance.store.read
    const link = await createLink(await service.api())
    const link_seq = await seqOf(service, link)
    const at = Date.now() * 1_000
    // Makes the day's partition.
    await takeIn(service, [someClick({ link_seq, at })])
    const [slow, quick] = clients as [pg.Client, pg.Client]
    const insert = (client: pg.Client, country: string) =>
      client.query(
        `insert into clicks (at, link_seq, workspace_id, flags, visitor, country, device, os, browser,
           referrer, language, source)
         values ($1, $2, $3, 0, 0, $4, '', '', '', '', '', '')`,
        [at, link_seq, link.workspace_id, country],
      )
    const wanted = {
      workspaceIds: [link.workspace_id],
      fromMicros: at - MINUTE_MICROS,
      linkValues: false,
    }
    let position = await feed.end(wanted.fromMicros)
    const read = async () => {
      const found: (string | null)[] = []
      position = await feed.since(position, wanted, (page) =>
        found.push(...page.map(({ country }) => country)),
      )
      return found
    }
    await slow.query('begin')
    await insert(slow, 'AA')
    await insert(quick, 'BB')
    assert.deepEqual(await read(), ['BB'])
    await slow.query('commit')
    await insert(quick, 'CC')
    assert.deepEqual(await read(), ['AA', 'CC'])
    assert.deepEqual(await read(), [])
  })
})
