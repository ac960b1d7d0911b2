import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { before, test } from 'node:test'
import { WORKSPACE_EXPORT_QUEUE, WorkspaceExports } from '../../src/exports/workspace-exports.ts'
import { openTerseExport } from '../../src/imports/sources/terse.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { cursors } from '../../src/platform/http/api/cursor.ts'
import { FairQueue } from '../../src/platform/work/fair-queue.ts'
import { spooledClicks } from '../clicks/click-import.ts'
import { NOW } from '../storage/samples.ts'
import { ENGINES, type Engine, SQLITE } from '../support/engines.ts'
import { describeStore, openAt, type StoreUnderTest } from '../support/store.ts'
import { type FakeRecord, FakeSource, linkRecord } from './fake-source.ts'
import { importServices } from './import-services.ts'

type Services = Awaited<ReturnType<typeof importServices>>
type Line = Readonly<Record<string, unknown>> & { readonly type: string }

/** What a move cannot keep. */
const NOT_KEPT: Readonly<Record<string, readonly string[]>> = {
  utm_template: ['id', 'created_at', 'updated_at'],
  domain: ['id', 'status', 'hsts_max_age', 'created_at', 'updated_at'],
  rule_set: ['id', 'created_at', 'updated_at'],
  domain_settings: ['rule_set'],
  link: ['id', 'updated_at', 'rule_set'],
  click: ['link_id'],
  click_day: ['link_id'],
  conversion: ['link_id'],
}

/** Older clicks are exported by day. */
const RETENTION_DAYS = 30
const HOUR = 3_600_000_000
const DAY = 24 * HOUR

/** Domains come in the order of their creation, so no two instants may be equal. */
function letTimePass({ time }: Services): void {
  let { now } = time
  Object.defineProperty(time, 'now', {
    get: () => {
      now += 1
      return now
    },
  })
}

async function servicesAt(at: StoreUnderTest): Promise<Services> {
  const services = await importServices(at, spooledClicks(at.store, at.place))
  letTimePass(services)
  return services
}

type Format = 'ndjson' | 'csv-zip'

async function packed(
  { store, clock, actor, serviceHost }: Services,
  { format = 'ndjson', clicks = true }: { format?: Format; clicks?: boolean } = {},
): Promise<Buffer> {
  const exports = new WorkspaceExports({
    ...{ store, clock, baseUrl: 'https://go.example', serviceHost: serviceHost.host },
    clickRetentionDays: RETENTION_DAYS,
    cursors: cursors(Buffer.alloc(32), systemRandom),
    workspaces: { getById: async (id) => ({ id, name: 'acme', title: 'acme', created_at: 0 }) },
    exports: new FairQueue(WORKSPACE_EXPORT_QUEUE),
  })
  return buffer(await exports.open(actor, { format, clicks }, () => {}))
}

/** The bytes that must be the same, a line each. Clicks of one day are in no order. */
function compared(exported: Buffer): readonly string[] {
  const lines: Line[] = String(exported)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const links = new Map(lines.map(({ id, domain, key }) => [id, `${domain}/${key}`]))
  const shown = lines
    .filter(({ type }) => !['export', 'cursor'].includes(type))
    .map((line) => {
      const text = JSON.stringify(line, (name, value) =>
        NOT_KEPT[line.type]?.includes(name) ? undefined : value,
      )
      return line.link_id === undefined ? text : `${text} of ${links.get(line.link_id)}`
    })
  const isClick = (text: string) => text.startsWith('{"type":"click"')
  return [...shown.filter((text) => !isClick(text)), ...shown.filter(isClick).sort()]
}

const SET_NAME = 'Länder, "DE"'

const LINKS = [
  linkRecord({
    ...{ key: 'Full', domain: 'b.example', url: 'https://example.com/?a=1&b=%20#c' },
    ...{ ios: 'https://example.com/ios', android: 'https://example.com/android' },
    ...{ utm_source: 's', utm_medium: 'm', utm_campaign: 'c', utm_term: 't', utm_content: 'o' },
    ...{ utm_name: 'n', external_id: 9_007_199_254_740_991, tags: ['z', 'a,b', '=1', 'ü'] },
    ...{ expires_at: '9999-12-31T23:59:59.999999Z', expired_redirect_url: 'https://x.example/' },
    rules: [
      {
        ...{ id: 'de', name: 'Germany, "and" Austria' },
        when: { country: ['DE', 'AT'], not: { bot: true }, time: [{ weekdays: ['mon'] }] },
        then: { url: 'https://example.com/{query.a}' },
      },
      {
        ...{ id: 'ab', when: {} },
        then: {
          split: [
            { name: 'A', url: 'https://example.com/a', weight: 1 },
            { name: 'B', url: 'https://example.com/b', weight: 0 },
          ],
          remember_days: 30,
        },
      },
    ],
    examples: [
      {
        ...{ name: 'Japan, "é"', visitor: { country: 'JP', query: 'a=1' } },
        expected: { kind: 'redirect', location: 'https://x.example/', rule: null, variant: null },
      },
    ],
    options: {
      ...{ max_clicks: 90, active_from: '2020-01-01T00:00:00.000000Z', archived: true },
      ...{ notes: 'Line one\n"two"', path: 'append', query: 'drop', title: 'Größe, "x"' },
      ...{ description: 'A text', image: 'https://cdn.example/a.png' },
      ...{ managed_by: 'flyers', prevent_delete: true },
    },
    created_at: 1_600_000_000_123_456,
    rest: { title: 'Tïtle "quoted"', nested: { list: [1, null] } },
  }),
  linkRecord({
    ...{ key: 'full', domain: 'b.example', created_at: 1_500_000_000_000_001 },
    ...{ rule_set_name: SET_NAME, options: { notes: 'uses a set' } },
  }),
  linkRecord({ key: 'schlüssel/日本', domain: 'a.example' }),
  linkRecord({ key: '🎉', domain: 'a.example', url: 'mailto:a@example.com?subject=b' }),
  linkRecord({ key: 'locked', domain: 'a.example', protection: { kind: 'unknown password' } }),
  linkRecord({ key: 'over', domain: 'a.example', expires_at: 1_600_000_100_000_000 }),
  linkRecord({ key: 'shared', domain: null, clicks: 40 }),
  // A chain in which a link leads to a later one, to another domain, to the service's own host.
  linkRecord({ key: 'first', domain: 'a.example', url: 'https://b.example/Full' }),
  linkRecord({ key: 'ahead', domain: 'a.example', url: 'https://b.example/later' }),
  linkRecord({ key: 'to-shared', domain: 'a.example', url: 'https://go.example/shared' }),
  linkRecord({ key: 'later', domain: 'b.example', url: 'https://a.example/first' }),
  // A circle, which visitors see as such.
  linkRecord({ key: 'ping', domain: 'a.example', url: 'https://b.example/pong' }),
  linkRecord({ key: 'pong', domain: 'b.example', ios: 'https://a.example/ping' }),
]

const SINGLE = { address: '192.0.2.1', user_agent: 'curl/8.0', referrer: '', country: 'FR' }

const CLICKS: readonly FakeRecord[] = [
  // Older than single clicks are kept, of people and of bots.
  { kind: 'count', ref: 'Full', at: NOW - 400 * DAY, interval: 'day', count: 7, bots: 3 },
  { kind: 'count', ref: 'Full', at: NOW - 200 * DAY, interval: 'hour', count: 5 },
  { kind: 'count', ref: 'first', at: NOW - 200 * DAY, interval: 'day', count: 0, bots: 2 },
  { kind: 'click', ref: 'full', at: NOW - 90 * DAY, ...SINGLE, is_bot: false },
  // Clicks of the last days, one by one and by hour.
  { kind: 'click', ref: 'full', at: NOW - 2 * DAY, ...SINGLE, is_bot: false },
  { kind: 'click', ref: 'full', at: NOW - DAY, ...SINGLE, is_bot: true },
  {
    ...{ kind: 'click', ref: 'full', at: NOW - 2 * HOUR, ...SINGLE, is_bot: false },
    stored: {
      ...{ flags: 0, count: 1, visitor: 7, device: 'mobile', os: 'iOS', browser: 'Safari' },
      ...{ language: 'de', source: 'qr', rule: 'ab', variant: 'größer, "B"', label: 'E-Mail' },
      ...{ region: 'US-CA', city: 'San Diego' },
    },
  },
  { kind: 'count', ref: 'shared', at: NOW - 3 * HOUR, interval: 'hour', count: 11 },
]

const CONVERSIONS: readonly FakeRecord[] = [
  {
    ...{ kind: 'conversion', place: 'refund', ref: 'full' },
    conversion: {
      ...{ id: '01a222ca-57ef-7c11-9dc6-044416ab85be', event: 'order, "x"', value: -1_250 },
      ...{ currency: 'EUR', occurred_at: NOW - HOUR + 7, recorded_at: NOW - HOUR + 9 },
      ...{ clicked_at: NOW - 2 * HOUR, visit: 2 ** 48 - 1, country: 'DE', rule: 'ab' },
      ...{ variant: 'größer, "B"', label: 'E-Mail' },
    },
  },
  {
    ...{ kind: 'conversion', place: 'sign-up', ref: 'Full' },
    conversion: {
      ...{ id: '01a222ca-57ef-7c11-9dc6-044416ab85bf', event: '=sign-up', value: null },
      ...{ currency: null, occurred_at: NOW - 3 * DAY, recorded_at: NOW - 3 * DAY },
      ...{ clicked_at: NOW - 3 * DAY, visit: 0, country: '', rule: '', variant: '', label: '' },
    },
  },
]

const APPLE = { applinks: { details: [{ appIDs: ['ABCDE12345.com.acme.app'] }] } }
const ASSETLINKS = [
  {
    relation: ['delegate_permission/common.handle_all_urls'],
    target: {
      ...{ namespace: 'android_app' as const, package_name: 'com.acme.app' },
      sha256_cert_fingerprints: [Array(32).fill('AB').join(':')],
    },
  },
]

const RECORDS: readonly FakeRecord[] = [
  {
    ...{ kind: 'conversion settings', place: 'o' },
    settings: { track_conversions: true, parameter: 'ref', window_days: 90 },
  },
  { kind: 'labels', place: 'l', parameter: 'from', labels: ['a,b', '=x', 'größer'] },
  {
    ...{ kind: 'rule set', place: 's', name: SET_NAME, managed_by: 'flyers' },
    rules: [
      {
        id: 'set-1',
        when: { country: ['DE'], label: ['a,b'] },
        then: { url: 'https://x.example/' },
      },
    ],
  },
  { kind: 'rule set', place: 't', name: 'Empty', rules: [] },
  {
    ...{ kind: 'utm template', place: 'a', name: 'Newsletter', utm_source: 'mail' },
    ...{ utm_medium: 'email', utm_campaign: null, utm_term: null, utm_content: null },
    utm_name: 'n',
    managed_by: 'flyers',
  },
  {
    ...{ kind: 'domain', place: 'b', domain: 'b.example', not_found_url: 'https://b.example/Full' },
    ...{ expired_url: null, is_default: true, notes: [] },
  },
  {
    ...{ kind: 'domain', place: 'c', domain: 'a.example', not_found_url: null },
    ...{ expired_url: 'https://a.example.com/gone', notes: [] },
  },
  {
    ...{ kind: 'domain settings', place: 'd', domain: 'b.example', rule_set_name: SET_NAME },
    settings: {
      ...{
        root_url: 'https://acme.example/',
        robots: 'noindex',
        utm: { utm_source: 'short, "x"' },
      },
      ...{ apple_app_site_association: APPLE, assetlinks: ASSETLINKS, managed_by: 'flyers' },
    },
  },
  ...LINKS,
  ...CLICKS,
  ...CONVERSIONS,
]

describeStore('a workspace with every kind of link', (at, engine) => {
  let first: Services
  let exported: Buffer
  before(async () => {
    first = await servicesAt(at)
    const domains = { '': 'go.example' }
    const filled = await first.importAll(new FakeSource(RECORDS), { options: { domains } })
    assert.equal(filled.ended.status, 'succeeded', filled.ended.fault ?? '')
    exported = await packed(first)
    const types = Map.groupBy(
      compared(exported),
      (line) => JSON.parse(line.split(' of ')[0] ?? '').type,
    )
    const counted = [...types].map(([type, lines]) => `${type} ${lines.length}`)
    assert.deepEqual(counted.sort(), [
      ...[
        'click 4',
        'click_day 4',
        'conversion 2',
        'conversion_settings 1',
        'domain 2',
        'domain_settings 1',
        'end 1',
        'labels 1',
      ],
      ...[`link ${LINKS.length}`, 'rule_set 2', 'utm_template 1'],
    ])
  })

  /** Imports an export into an empty instance, and returns what that exports. */
  async function moved(
    t: { after(work: () => Promise<void>): void },
    to: Engine,
    file: Buffer,
    clicks = true,
  ): Promise<Buffer> {
    const place = await to.createMigratedPlace()
    const opened = await openAt(place)
    t.after(async () => {
      await opened.store.close()
      await place.remove()
    })
    const services = await servicesAt({ ...opened, place } as StoreUnderTest)
    const name = path.join(place.dataDir, 'export')
    writeFileSync(name, file)
    const run = (is_dry_run: number, domains = {}) =>
      services.importAll(openTerseExport({ file: name }), { is_dry_run, options: { domains } })
    const tried = await run(1)
    const { ended, rows } = await run(0)
    assert.equal(ended.status, 'succeeded', ended.fault ?? '')
    assert.deepEqual(
      rows.filter(({ outcome }) => outcome !== 'created'),
      [],
    )
    assert.deepEqual(tried.ended.counts, ended.counts)
    const after = await packed(services, { clicks })
    // The workspace has domains now: links without one need one.
    const again = await run(0, { '': 'go.example' })
    assert.equal(again.ended.status, 'succeeded', again.ended.fault ?? '')
    assert.ok(again.rows.every(({ outcome }) => outcome === 'skipped'))
    const { conversions, conversions_left_out: leftOut } = again.ended.counts
    assert.deepEqual([conversions, leftOut], [0, CONVERSIONS.length])
    assert.deepEqual(compared(await packed(services, { clicks })), compared(after))
    return after
  }

  for (const to of ENGINES) {
    test(`moves to an empty instance on ${to.name} and back, and is the same`, async (t) => {
      const there = await moved(t, to, exported)
      assert.deepEqual(compared(there), compared(exported))
      const back = await moved(t, engine, there)
      assert.deepEqual(compared(back), compared(exported))
    })
  }

  test('moves without single clicks, and keeps the clicks of each day', async (t) => {
    const days = await packed(first, { clicks: false })
    assert.match(String(days), /"click_day"/)
    assert.deepEqual(compared(await moved(t, engine, days, false)), compared(days))
  })

  // The zip is the same with both engines.
  if (engine === SQLITE) {
    test('moves as a zip of CSV files', async (t) => {
      const zip = await packed(first, { format: 'csv-zip' })
      assert.deepEqual(compared(await moved(t, engine, zip)), compared(exported))
    })
  }
})
