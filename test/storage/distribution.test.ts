import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, mock, test } from 'node:test'
import pg from 'pg'
import type { OpenedStore } from '../../src/app/database/opened-store.ts'
import type { Click } from '../../src/clicks/click.ts'
import { ClickColumns } from '../../src/clicks/click-columns.ts'
import { SCOPES } from '../../src/clicks/store/fold-days.ts'
import { openPostgresClickWriter } from '../../src/clicks/store/postgres/click-writer.ts'
import { openPostgresReturnTarget } from '../../src/clicks/store/postgres/return-target.ts'
import { RawClickQuota } from '../../src/clicks/store/raw-click-quota.ts'
import { ReturnedDays } from '../../src/clicks/store/returned-days.ts'
import { startOfDay } from '../../src/clicks/tally/click-day.ts'
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { openAt } from '../support/store.ts'
import { everyRead, everyWrite } from './every-call.ts'
import { addHome, addKeyspace, addLink, NOW } from './samples.ts'

/** A reference table: small, rarely written, and copied to every node. */
const REFERENCE = 'reference'
/** A local table: on one node, which orders its writes. */
const SINGLE = 'single'

/**
 * The distribution of each table over shards, as in docs/scaling.md: its distribution key, or one
 * of the above.
 */
const DISTRIBUTION: Readonly<Record<string, string>> = {
  acme_accounts: REFERENCE,
  acme_budgets: REFERENCE,
  assistant_secrets: REFERENCE,
  assistant_settings: REFERENCE,
  assistants: REFERENCE,
  compat_secrets: REFERENCE,
  compat_settings: REFERENCE,
  oauth_clients: REFERENCE,
  certificate_orders: REFERENCE,
  certificates: REFERENCE,
  changes: SINGLE,
  event_authors: REFERENCE,
  events: SINGLE,
  click_days: 'subject',
  conversion_counts: 'workspace_id',
  conversion_settings: 'workspace_id',
  conversions: 'workspace_id',
  clicks: 'link_seq',
  returned_clicks: 'link_seq',
  returned_tallies: 'subject',
  returned_days: REFERENCE,
  click_spools: REFERENCE,
  click_spool_parts: 'spool_id',
  deleted_links: 'link_seq',
  click_leases: 'link_seq',
  leased_clicks: 'link_seq',
  deleted_people: REFERENCE,
  domain_checks: REFERENCE,
  default_domains: REFERENCE,
  domain_hsts: REFERENCE,
  domain_settings: REFERENCE,
  domains: REFERENCE,
  utm_templates: 'workspace_id',
  rule_sets: 'workspace_id',
  reached_limits: 'link_seq',
  webhooks: REFERENCE,
  webhook_queues: SINGLE,
  webhook_messages: SINGLE,
  webhook_attempts: SINGLE,
  webhook_tallies: SINGLE,
  webhook_replays: SINGLE,
  webhook_cursors: SINGLE,
  images: 'workspace_id',
  image_data: 'hash',
  group_bindings: REFERENCE,
  dry_run_clicks: 'import_id',
  idempotency: 'workspace_id',
  identities: REFERENCE,
  import_rows: 'import_id',
  imported_links: 'workspace_id',
  imports: REFERENCE,
  instance: REFERENCE,
  journal_positions: 'journal_id',
  click_intents: 'journal_id',
  known_labels: 'workspace_id',
  label_settings: 'workspace_id',
  keyspaces: REFERENCE,
  link_buckets: 'workspace_id',
  link_clicks: 'link_seq',
  link_tags: 'workspace_id',
  links: 'key_folded',
  memberships: REFERENCE,
  nodes: REFERENCE,
  one_time_links: REFERENCE,
  passkeys: REFERENCE,
  passwords: REFERENCE,
  people: REFERENCE,
  recovery_codes: REFERENCE,
  schema_migrations: REFERENCE,
  sessions: REFERENCE,
  tokens: REFERENCE,
  totp: REFERENCE,
  unsettled_days: 'subject',
  used_challenges: REFERENCE,
  visitor_salts: REFERENCE,
  workspace_quotas: REFERENCE,
  workspaces: REFERENCE,
}

const isDistributed = (table: string) => ![REFERENCE, SINGLE].includes(DISTRIBUTION[table] ?? '')

/** Returns why a statement cannot run on such a distribution, or undefined when it can. */
function faultOf(statement: string): string | undefined {
  const named = [...statement.matchAll(/\b(?:from|join|update|into)\s+"?([a-z_]+)"?/gi)]
  const tables = new Set(named.map(([, name = '']) => name).filter((name) => name in DISTRIBUTION))
  const apart = [...tables].filter((name) => DISTRIBUTION[name] !== REFERENCE)
  // Rows of one link lie together.
  const isOfLinks = apart.every((name) => DISTRIBUTION[name] === 'link_seq')
  if (apart.length > 1 && !isOfLinks) return `joins ${apart.join(' and ')}`
  const [table] = apart.filter(isDistributed)
  if (table === undefined) return undefined
  const set = /\bset\s+(.*?)(?:\bwhere\b|\breturning\b|$)/is.exec(statement)?.[1] ?? ''
  const changed = [...set.matchAll(/(?:^|,)\s*"?([a-z_]+)"?\s*=/gi)].map(([, column]) => column)
  const key = DISTRIBUTION[table] ?? ''
  return changed.includes(key) ? `moves a row of ${table} to another shard` : undefined
}

for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('the schema, distributed over shards', () => {
    let place: Place
    let opened: OpenedStore
    let client: pg.Client
    before(async () => {
      place = await engine.createPlace()
      opened = await openAt(place)
      client = new pg.Client(place.databaseUrl)
      await client.connect()
    })
    after(async () => {
      await client.end()
      await opened.store.close()
      await place.remove()
    })

    test('has a distribution for every table', async () => {
      const { rows } = await client.query(`select relname as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        order by 1`)
      assert.deepEqual(
        rows.map(({ name }) => name),
        Object.keys(DISTRIBUTION).sort(),
      )
    })

    test('has the distribution key, never null, in every primary key and unique constraint', async () => {
      const { rows } = await client.query<{ table: string; index: string; columns: string[] }>(`
        select t.relname as table, i.relname as index, array_agg(a.attname::text) as columns
        from pg_index x
        join pg_class t on t.oid = x.indrelid
        join pg_class i on i.oid = x.indexrelid
        left join pg_attribute a on a.attrelid = t.oid and a.attnum = any (x.indkey)
        where t.relnamespace = 'public'::regnamespace and x.indisunique and not t.relispartition
        group by 1, 2`)
      const distributed = rows.filter(({ table }) => isDistributed(table))
      assert.ok(distributed.length >= 8, 'there is something to prove')
      for (const { table, index, columns } of distributed) {
        assert.ok(columns.includes(DISTRIBUTION[table] ?? ''), `${index}: ${columns}`)
      }
      for (const [table, key] of Object.entries(DISTRIBUTION)) {
        if (!isDistributed(table)) continue
        const { rows } = await client.query(
          'select attnotnull from pg_attribute where attrelid = $1::regclass and attname = $2',
          [table, key],
        )
        assert.deepEqual(rows, [{ attnotnull: true }], `${table} (${key})`)
      }
    })

    test('has foreign keys only from shards to reference tables', async () => {
      const { rows } = await client.query<{ from: string; to: string }>(`
        select conrelid::regclass::text as from, confrelid::regclass::text as to
        from pg_constraint where contype = 'f' and conparentid = 0`)
      assert.ok(rows.length >= 5, 'there is something to prove')
      for (const { from, to } of rows) assert.equal(DISTRIBUTION[to], REFERENCE, `${from} → ${to}`)
    })

    test('is never queried across shards, and no row is moved, by any store method or the drain', async (t) => {
      const { store } = opened
      const home = await addHome(store)
      const statements = new Set<string>()
      const query = pg.Client.prototype.query
      t.after(() => mock.restoreAll())
      mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
        const [asked] = args
        const text =
          typeof asked === 'object' && asked !== null && 'text' in asked ? asked.text : asked
        statements.add(String(text))
        return Reflect.apply(query, this, args)
      })
      for (const call of Object.values(everyRead(home))) await call(store.read)
      for (const call of Object.values(everyWrite(home))) {
        await store.write(call).catch((error) => {
          // Some of the samples match no row; the statements run all the same.
          if (!['StaleRow', 'UniqueViolation', 'Failure'].includes(error?.name)) throw error
        })
      }
      // The calls that find rows: a link is created, edited, given another key, moved, clicked,
      // deleted.
      const other = await addHome(store)
      const link = await addLink(store, other, { tags: ['spread'] })
      const edited = { ...link, url: 'https://example.com/new', updated_at: NOW + 1 }
      const renamed = { ...edited, key: 'renamed', updated_at: NOW + 2 }
      const target = await addKeyspace(store, other.workspace_id)
      const moved = { ...renamed, ...target, updated_at: NOW + 3 }
      for (const [next, before] of [
        [edited, link],
        [renamed, edited],
        [moved, renamed],
      ] as const) {
        await store.write((stores) => stores.links.update(next, before))
      }
      const writer = await openWriterAt(place)
      for (let batch = 0; batch < 3; batch += 1) {
        const clicks = Array.from({ length: 2_000 }, (_, index) =>
          someClick({
            ...{ at: startOfDay(20_000) + index, link_seq: link.seq, visitor: index },
            label: index === 0 ? 'poster' : '',
          }),
        )
        await takeClicks(writer, clicks)
      }
      await writer.maintain(20_001, 1)
      await writer.close()
      await countElsewhere(someClick({ at: startOfDay(20_000), link_seq: link.seq }))
      await bringBack(someClick({ at: startOfDay(20_000), link_seq: link.seq }), other.workspace_id)
      const found = await store.read.links.findById(other.workspace_id, link.id)
      assert.equal(found?.clicks, 6_001)
      await store.write((stores) => stores.links.delete(other.workspace_id, link.id))

      const tables = Object.keys(DISTRIBUTION).filter(isDistributed)
      for (const table of tables) {
        const seen = [...statements].some((text) => new RegExp(`\\b${table}\\b`).test(text))
        assert.ok(seen, `${table} was asked nothing`)
      }
      const faults = [...statements].flatMap((text) => {
        const fault = faultOf(text)
        return fault === undefined ? [] : [`${fault}: ${text}`]
      })
      assert.deepEqual(faults, [])
    })

    /** Brings a click back from ClickHouse. */
    async function bringBack(click: Click, workspace_id: string): Promise<void> {
      const target = openPostgresReturnTarget({ url: place.databaseUrl ?? '', onError: () => {} })
      const returned = new ReturnedDays(target, 1)
      const subject = { scope: SCOPES.link, subject: click.link_seq, workspaceId: undefined }
      const slots = [{ slot: 0, persons: 1, others: 0 }]
      const own = { ...subject, slots, values: new Map(), visitors: 1, seen: [click.visitor] }
      await returned.add(20_000, [own])
      await returned.replaceClicks(20_000, pagesOf([{ ...click, keyspace_id: 1, workspace_id }]))
      await returned.note(20_000, 'mark')
      assert.equal((await returned.marks()).get(20_000), 'mark')
      const [counts] = await returned.counts(20_000, [subject])
      assert.deepEqual(counts?.returned.persons, 1)
      await target.close()
    }

    async function* pagesOf<T>(page: readonly T[]) {
      yield page
    }

    /** Counts a click that is stored in ClickHouse, in the main database. */
    async function countElsewhere(click: Click): Promise<void> {
      const ledger = openPostgresClickWriter({
        url: place.databaseUrl ?? '',
        rawQuota: new RawClickQuota({ rawPerMinute: 0, onRawRefused: () => {} }),
        retentionDays: 0,
        onWithoutLink: () => {},
        onError: () => {},
      })
      const batch = {
        journalId: randomUUID(),
        from: undefined,
        to: { segment: 1, offset: 1 },
        clicks: ClickColumns.of([click]),
        atMicros: 1,
      }
      const prepared = await ledger.prepare(batch)
      await ledger.begin(batch)
      assert.equal(await ledger.commit(batch, prepared), true)
      await ledger.close()
    }

    test('has a checker that rejects statements across shards', () => {
      assert.match(faultOf('select 1 from links join link_clicks on true') ?? '', /joins/)
      assert.match(faultOf('update "links" set "url" = $1, "key_folded" = $2 where') ?? '', /moves/)
      assert.equal(faultOf('select 1 from links join keyspaces on true'), undefined)
    })
  })
}
