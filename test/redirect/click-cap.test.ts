import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { journalsRoot } from '../../src/clicks/journal/journal-folder.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { type ENGINES, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { fakeClock } from '../support/fake-clock.ts'
import type { LinkBody } from '../support/links.ts'
import { numberOf } from '../support/prometheus.ts'
import { type Service, startService } from '../support/service.ts'
import { BROWSER, visit } from '../support/visit.ts'
import { createLink } from './create.ts'

const FLOOD_VISITS = 20_000
const FLOOD_CONNECTIONS = 32
const CAP = 300
/** More than any record here takes: one click of a browser that sends no other header. */
const RECORD_BYTES_MAX = 100
/** A frame that holds only capped clicks of one link. */
const CAPPED_FRAME_BYTES = 36

type ExportedLine = { count: number; flags: string[]; visitor: string | null }

/** The service behind a trusted proxy, with a clock that stands still. */
class ServiceUnderTest {
  service!: Service
  api!: Api

  async start(engine: (typeof ENGINES)[number], settings: Record<string, string>): Promise<void> {
    const trusted = { TERSE_TRUST_PROXY: '127.0.0.1', ...settings }
    this.service = await startService(engine, trusted, { clock: fakeClock(Date.now()) })
    this.api = await this.service.api()
  }

  visitFrom(address: string, link: LinkBody) {
    return visit(this.service.port, `/${link.key}`, { headers: { 'x-forwarded-for': address } })
  }

  async metric(name: string): Promise<number | undefined> {
    return numberOf(await (await fetch(`${this.service.baseUrl}/metrics`)).text(), name)
  }

  async totalOf(link: LinkBody): Promise<{ clicks: number; bots: number; visitors: number }> {
    const { body } = expectStatus(await this.api.get(`/links/${link.id}/clicks?bots=include`), 200)
    return body.total
  }

  async exportOf(link: LinkBody): Promise<ExportedLine[]> {
    const path = `/links/${link.id}/clicks/export?format=ndjson&bots=include`
    const { body } = expectStatus(await this.api.get(path), 200)
    return String(body)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }

  /** The size of the service’s journal. */
  journalBytes(): number {
    const root = journalsRoot(this.service.place.dataDir)
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    return files
      .filter((name) => name.endsWith('.journal'))
      .reduce((sum, name) => sum + statSync(path.join(root, name)).size, 0)
  }
}

/** Visits a link as fast as the service answers, over kept-alive connections. */
async function flood(port: number, link: LinkBody, address: string): Promise<void> {
  const request = Buffer.from(
    `GET /${link.key} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ${BROWSER}\r\nX-Forwarded-For: ${address}\r\n\r\n`,
  )
  let left = FLOOD_VISITS
  async function visitOn(): Promise<void> {
    const socket = connect(port, '127.0.0.1')
    while (left > 0) {
      left -= 1
      socket.write(request)
      const [answer] = await once(socket, 'data')
      assert.match(answer.toString('latin1'), /^HTTP\/1\.1 302 /)
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: FLOOD_CONNECTIONS }, visitOn))
}

describe('clicks above the cap', () => {
  const at = new ServiceUnderTest()
  before(() => at.start(SQLITE, { TERSE_CLICK_CAP_PER_MINUTE: String(CAP) }))
  after(() => at.service.stop())

  test('are counted as bots and exported as a number', async () => {
    const link = await createLink(at.api, {})
    const neighbour = await createLink(at.api, {})
    const cappedBefore = (await at.metric('terse_clicks_capped_total')) ?? Number.NaN
    for (let n = 0; n < CAP + 40; n += 1) {
      assert.equal((await at.visitFrom('203.0.113.1', link)).status, 302)
    }
    for (const address of ['203.0.113.2', '2001:db8::1']) await at.visitFrom(address, link)
    await at.visitFrom('203.0.113.1', neighbour)

    await eventually(async () => {
      assert.deepEqual(await at.totalOf(link), { clicks: CAP + 2, bots: 40, visitors: 3 })
      assert.deepEqual(await at.totalOf(neighbour), { clicks: 1, bots: 0, visitors: 1 })
    })
    assert.equal((await at.api.get(`/links/${link.id}`)).body.clicks, CAP + 2)
    const lines = await at.exportOf(link)
    const capped = lines.filter(({ flags }) => flags.includes('capped'))
    assert.equal(lines.length - capped.length, CAP + 2)
    assert.equal(sumOf(capped), 40)
    for (const { flags, visitor } of capped) {
      assert.deepEqual({ flags, visitor }, { flags: ['capped'], visitor: null })
    }
    const byCountry = `/links/${link.id}/clicks?bots=only&group_by=country`
    assert.deepEqual((await at.api.get(byCountry)).body.data, [{ value: null, bots: 40 }])
    assert.equal(await at.metric('terse_clicks_capped_total'), cappedBefore + 40)
  })

  test(`take a few bytes each in the journal and few rows, for ${FLOOD_VISITS} from one address`, async () => {
    const link = await createLink(at.api, {})
    const bytesBefore = at.journalBytes()
    await flood(at.service.port, link, '203.0.113.3')
    const bytes = at.journalBytes() - bytesBefore
    const beyond = FLOOD_VISITS - CAP
    assert.ok(bytes < CAP * RECORD_BYTES_MAX + beyond * CAPPED_FRAME_BYTES, `${bytes} bytes`)

    await eventually(async () => {
      assert.deepEqual(await at.totalOf(link), { clicks: CAP, bots: beyond, visitors: 1 })
    })
    const lines = await at.exportOf(link)
    assert.equal(sumOf(lines), FLOOD_VISITS)
    // The drain thread reports a batch after it has counted it.
    await eventually(async () => {
      const batches = (await at.metric('terse_drain_batches_total')) ?? Number.NaN
      assert.ok(lines.length <= CAP + batches, `${lines.length} rows, ${batches} batches`)
    })
  })
})

describe('clicks above TERSE_RAW_CLICKS_PER_MINUTE', () => {
  const at = new ServiceUnderTest()
  before(() =>
    at.start(SQLITE, { TERSE_CLICK_CAP_PER_MINUTE: '0', TERSE_RAW_CLICKS_PER_MINUTE: '10' }),
  )
  after(() => at.service.stop())

  test('are all counted, and stored singly up to the limit', async () => {
    const link = await createLink(at.api, {})
    for (let n = 0; n < 25; n += 1) await at.visitFrom(`203.0.113.${n}`, link)
    await eventually(async () => {
      assert.deepEqual(await at.totalOf(link), { clicks: 25, bots: 0, visitors: 25 })
    })
    assert.equal((await at.exportOf(link)).length, 10)
    await eventually(async () => {
      assert.equal(await at.metric('terse_clicks_without_row_total'), 15)
    })
    const combined = `/links/${link.id}/clicks?group_by=browser&source=direct`
    const refused = expectStatus(await at.api.get(combined), 422)
    assert.match(refused.body.errors.from[0], /not all kept: 10 of 25/)
    const { body } = await at.api.get(`/links/${link.id}/clicks?group_by=browser`)
    assert.deepEqual(body.data, [{ value: 'Chrome', clicks: 25 }])
  })
})

function sumOf(lines: readonly ExportedLine[]): number {
  return lines.reduce((sum, { count }) => sum + count, 0)
}
