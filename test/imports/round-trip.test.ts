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
import { SQLITE } from '../support/engines.ts'
import { describeStore, openAt, type StoreUnderTest } from '../support/store.ts'
import { FakeSource, linkRecord } from './fake-source.ts'
import { importServices } from './import-services.ts'

type Services = Awaited<ReturnType<typeof importServices>>
type Line = Readonly<Record<string, unknown>> & { readonly type: string }

/** What a move cannot keep. */
const NOT_KEPT: Readonly<Record<string, readonly string[]>> = {
  utm_template: ['id', 'created_at', 'updated_at'],
  domain: ['id', 'status', 'hsts_max_age', 'created_at', 'updated_at'],
  link: ['id', 'updated_at'],
}

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

type Format = 'ndjson' | 'csv-zip'

async function packed(
  { store, clock, actor, serviceHost }: Services,
  format: Format,
): Promise<Buffer> {
  const exports = new WorkspaceExports({
    ...{ store, clock, baseUrl: 'https://go.example', serviceHost: serviceHost.host },
    cursors: cursors(Buffer.alloc(32), systemRandom),
    workspaces: { getById: async (id) => ({ id, name: 'acme', created_at: 0 }) },
    exports: new FairQueue(WORKSPACE_EXPORT_QUEUE),
  })
  return buffer(await exports.open(actor, { format, clicks: false }, () => {}))
}

const exportOf = async (services: Services) => (await packed(services, 'ndjson')).toString()

/** The bytes that must be the same, a line each. */
function compared(exported: string): string[] {
  const lines: Line[] = exported
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  return lines
    .filter(({ type }) => !['export', 'cursor'].includes(type))
    .map((line) =>
      JSON.stringify(line, (name, value) =>
        NOT_KEPT[line.type]?.includes(name) ? undefined : value,
      ),
    )
}

const RECORDS = [
  {
    ...{ kind: 'utm template', place: 'a', name: 'Newsletter', utm_source: 'mail' },
    ...{ utm_medium: 'email', utm_campaign: null, utm_term: null, utm_content: null },
    utm_name: 'n',
  },
  {
    ...{ kind: 'domain', place: 'b', domain: 'b.example', not_found_url: 'https://b.example.com/' },
    ...{ expired_url: null, notes: [] },
  },
  {
    ...{ kind: 'domain', place: 'c', domain: 'a.example', not_found_url: null },
    ...{ expired_url: 'https://a.example.com/gone', notes: [] },
  },
  linkRecord({
    ...{ key: 'Full', domain: 'b.example', url: 'https://example.com/?a=1&b=%20#c' },
    ...{ ios: 'https://example.com/ios', android: 'https://example.com/android' },
    ...{ utm_source: 's', utm_medium: 'm', utm_campaign: 'c', utm_term: 't', utm_content: 'o' },
    ...{ utm_name: 'n', external_id: 9_007_199_254_740_991, tags: ['z', 'a,b', '=1', 'ü'] },
    ...{ expires_at: '9999-12-31T23:59:59.999999Z', expired_redirect_url: 'https://x.example/' },
    created_at: 1_600_000_000_123_456,
    rest: { title: 'Tïtle "quoted"', nested: { list: [1, null] } },
  }),
  linkRecord({ key: 'full', domain: 'b.example', created_at: 1_500_000_000_000_001 }),
  linkRecord({ key: 'schlüssel/日本', domain: 'a.example' }),
  linkRecord({ key: 'locked', domain: 'a.example', protection: { kind: 'unknown password' } }),
  linkRecord({ key: 'over', domain: 'a.example', expires_at: 1_600_000_100_000_000 }),
  linkRecord({ key: 'shared', domain: null }),
] as ConstructorParameters<typeof FakeSource>[0]

describeStore('a workspace that is exported and imported', (at, engine) => {
  let first: Services
  let exported: string
  before(async () => {
    first = await importServices(at)
    letTimePass(first)
    const domains = { '': 'go.example' }
    const filled = await first.importAll(new FakeSource(RECORDS), { options: { domains } })
    assert.equal(filled.ended.status, 'succeeded', filled.ended.fault ?? '')
    exported = await exportOf(first)
    assert.equal(compared(exported).length, RECORDS.length + 1, exported)
  })

  // The zip is the same with both engines.
  const formats: readonly Format[] = engine === SQLITE ? ['ndjson', 'csv-zip'] : ['ndjson']
  for (const format of formats) {
    test(`as ${format} into an empty instance, and exported again, is the same`, async (t) => {
      const place = await engine.createPlace()
      const opened = await openAt(place)
      t.after(async () => {
        await opened.store.close()
        await place.remove()
      })
      const second = await importServices({ ...opened, place } as StoreUnderTest)
      letTimePass(second)
      const file = path.join(place.dataDir, 'export')
      writeFileSync(file, await packed(first, format))
      const { ended, rows } = await second.importAll(openTerseExport({ file }), {
        options: { domains: {} },
      })
      assert.equal(ended.status, 'succeeded', ended.fault ?? '')
      assert.deepEqual(
        rows.filter(({ outcome }) => outcome !== 'created'),
        [],
      )
      assert.deepEqual(compared(await exportOf(second)), compared(exported))

      const again = await second.importAll(openTerseExport({ file }), { options: { domains: {} } })
      assert.ok(again.rows.every(({ outcome }) => outcome === 'skipped'))
      assert.deepEqual(compared(await exportOf(second)), compared(exported))
    })
  }
})
