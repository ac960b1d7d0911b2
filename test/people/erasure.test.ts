import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { PNG } from 'pngjs'
import { openDomains } from '../../src/app/composition/domains.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { eraseDeleted, removeWorkspaces } from '../../src/app/node/removal.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import {
  checkClickSums,
  checkDaySums,
  checkLinkSums,
} from '../../src/clicks/store/sqlite/check-sums.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { type Clock, systemClock } from '../../src/platform/time/clock.ts'
import { openToRead } from '../../src/storage/sqlite/connection.ts'
import { newImport } from '../storage/samples.ts'
import { type Api, expectStatus } from '../support/api.ts'
import { openWriterAt } from '../support/click-writers.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { findText, listClickColumns, listColumns, withClickHouse } from '../support/find-text.ts'
import { PASSWORD, type PersonClient, personClient, setUp } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const DAY_MICROS = 86_400_000_000
const NOT_CANCELLED = () => false

for (const engine of ENGINES) {
  describe(`erasing on ${engine.title}`, () => {
    let service: Service
    let operator: PersonClient
    let writer: ClickWriter
    before(async () => {
      service = await startService(engine, { TERSE_DOMAIN_PROOF: 'routing' })
      await service.token('kept')
      operator = await setUp(service)
      writer = await openWriterAt(service.place)
    })
    after(async () => {
      await writer.close()
      await service.stop()
    })

    /** Runs the jobs of a later moment, which also forgets the changes and idempotency keys of today. */
    const runJobs = async (days: number) => {
      const { store } = service.instance
      const now = systemClock()
      const clock: Clock = { nowMicros: () => now.nowMicros() + days * DAY_MICROS }
      const config = readConfig({ ...service.place.env, TERSE_BASE_URL: service.baseUrl })
      const { domains } = openDomains(config, service.instance, pino({ level: 'silent' }))
      await removeWorkspaces({ store, clock, domains }, NOT_CANCELLED)
      await eraseDeleted({ store, clock, intake: writer }, NOT_CANCELLED)
      await store.write((stores) => stores.changes.trim(clock.nowMicros()))
    }
    const expectGone = async (texts: Readonly<Record<string, string>>) => {
      for (const [name, text] of Object.entries(texts)) {
        assert.deepEqual(await findText(service.place, text), [], name)
      }
    }
    const addLink = async (api: Api, domain: string, key: string) => {
      const link = { domain, key, url: 'https://example.com/', tags: [`tag-${key}`] }
      return expectStatus(await api.post('/links', link), 201).body
    }
    const click = async (path: string, host: string) => {
      assert.equal((await visit(service.port, path, { host })).status, 302)
    }
    const counted = (api: Api, clicks: number) =>
      eventually(async () => {
        const { body } = await api.get('/clicks')
        assert.equal(body.total.clicks, clicks)
      })

    /** What a program was allowed in a workspace by a person. */
    const allowAssistant = (workspace_id: string, person_id: string) =>
      service.instance.store.write(({ assistants }) =>
        assistants.insert({
          ...{ id: randomUUID(), workspace_id, person_id, scopes: ['links:read'] },
          ...{ client_id: 'https://gone-client.example/', client_name: 'gone-client' },
          ...{ created_at: 1, expires_at: Number.MAX_SAFE_INTEGER, last_used_at: null },
        }),
      )

    test('nothing is left of a deleted workspace, and nothing of another one is missing', async () => {
      const kept = await service.api('kept')
      await addLink(kept, 'kept.localhost', 'kept-key')
      const gone = await service.api('gone-workspace')
      const { id } = await service.instance.workspaces.get('gone-workspace')
      const link = await addLink(gone, 'gone.localhost', 'gone-key')
      const removed = await addLink(gone, 'gone.localhost', 'removed-key')
      const shared = await addLink(gone, 'localhost', 'gone-shared')
      expectStatus(await gone.post('/utm-templates', { name: 'gone-template' }), 201)
      const set = expectStatus(await gone.post('/rule-sets', { name: 'gone-set' }), 201).body
      const picture = PNG.sync.write(new PNG({ width: 8, height: 8, fill: true }))
      const upload = { body: new Uint8Array(picture), headers: { 'content-type': 'image/png' } }
      const { url: image } = expectStatus(await gone.send('POST', '/images', upload), 201).body
      const user = { domain: 'localhost', url: 'https://example.com/', rule_set: set.id, image }
      expectStatus(await gone.post('/links', user), 201)
      expectStatus(await gone.put('/default-domain', { domain: 'gone.localhost' }), 200)
      const labels = { parameter: 'via', labels: ['gone-label'] }
      expectStatus(await gone.put('/labels', labels), 200)
      const repeated = { domain: 'localhost', key: 'gone-once', url: 'https://example.com/' }
      expectStatus(await gone.post('/links', repeated, { 'idempotency-key': 'gone-id' }), 201)
      const actor = commandLine(id)
      await addImport(service, id)
      await service.instance.workspaces.limit(actor, { links: 50 })
      const { id: personId } = (await operator.get('/me')).body
      const member = {
        workspace_id: id,
        person_id: personId,
        role: 'owner',
        created_at: 1,
        source: 'hand',
      } as const
      await service.instance.store.write((stores) => stores.memberships.insert(member))
      const invited = { email: 'invited-to-gone@example.com', role: 'viewer' }
      expectStatus(await gone.post('/invitations', invited), 201)
      await click('/kept-key', 'kept.localhost')
      for (const path of ['/gone-key', '/gone-key?via=gone-unlisted', '/removed-key'])
        await click(path, 'gone.localhost')
      await click('/gone-shared', `localhost:${service.port}`)
      await counted(gone, 4)
      await counted(kept, 1)
      for (const { id: tracked, key } of [link, removed]) {
        // What keeps a link from being deleted does not keep its workspace.
        const marks = { managed_by: 'gone-set', prevent_delete: tracked === link.id }
        const options = { track_conversions: true, ...marks }
        expectStatus(await gone.patch(`/links/${tracked}/options`, options), 200)
        const to = await visit(service.port, `/${key}`, { host: 'gone.localhost' })
        const token = new URL(to.headers.location ?? '').searchParams.get('tc')
        expectStatus(await gone.post('/conversions', { token, event: 'gone-order' }), 200)
      }
      await counted(gone, 6)
      const tracking = { track_conversions: true, parameter: 'gone-tc' }
      expectStatus(await gone.put('/conversions/settings', tracking), 200)
      expectStatus(await gone.put('/assistants/settings', { enabled: false }), 200)
      expectStatus(await gone.put('/compat/kutt', { enabled: true }), 200)
      await allowAssistant(id, personId)
      expectStatus(await gone.delete(`/links/${removed.id}`), 200)
      assert.notDeepEqual(await findText(service.place, id), [], 'there is something to erase')
      const linkSeqs = await addOldClicks(service.place, id)
      for (const [table, rows] of await clickRowsOf(service.place, id, linkSeqs)) {
        assert.ok(rows > 0, `${table} has something to erase`)
      }

      await service.instance.workspaces.delete(actor)
      await runJobs(0)
      assert.ok((await findText(service.place, id)).length > 0, 'a week is waited for')
      await runJobs(1)
      await runJobs(8)
      await expectGone({
        workspace: id,
        link: link.id,
        removed: removed.id,
        shared: shared.id,
        host: 'gone.localhost',
        key: 'gone-',
        tag: 'tag-gone',
        invitation: 'invited-to-gone',
      })
      assert.deepEqual(await countsOf(service.place, [link, removed, shared]), 1, 'one of another')
      for (const [table, rows] of await clickRowsOf(service.place, id, linkSeqs)) {
        assert.equal(rows, 0, table)
      }
      await counted(kept, 1)
      const { body } = await kept.get('/clicks/export?format=ndjson')
      assert.match(body, /kept-key/)
      checkFiles(service.place)
    })

    test('a deleted link takes its conversions with it, and no others', async () => {
      const api = await service.api('sold')
      const used = async () => (await api.get('/usage')).body.conversions.used
      const ids: string[] = []
      for (const key of ['sold-link', 'unsold-link']) {
        const { id } = await addLink(api, 'localhost', key)
        ids.push(id)
        const options = { track_conversions: true }
        expectStatus(await api.patch(`/links/${id}/options`, options), 200)
        const { headers } = await visit(service.port, `/${key}`)
        const token = new URL(headers.location ?? '').searchParams.get('tc')
        for (const event of ['order', 'return']) {
          expectStatus(await api.post('/conversions', { token, event: `${event}-${key}` }), 200)
        }
      }
      await counted(api, 2)
      expectStatus(await api.delete(`/links/${ids[0]}`), 200)
      assert.equal(await used(), 4)
      const sold = await service.instance.store.read.erasures.listLinks(Number.MAX_SAFE_INTEGER, 2)
      assert.equal(sold.length, 1)
      // Single clicks are the workspace's until they expire.
      const ofLink = async () => {
        const rows = await clickRowsOf(service.place, randomUUID(), sold)
        return rows.filter(([table, count]) => count > 0 && !table.endsWith('clicks'))
      }
      assert.equal((await ofLink()).length, service.place.clicks === undefined ? 0 : 1)
      await runJobs(1)
      assert.equal(await used(), 2)
      assert.deepEqual(await ofLink(), [])
      const { body } = expectStatus(await api.get('/conversions'), 200)
      const events = body.data.map(({ event }: { event: string }) => event)
      assert.deepEqual(events.sort(), ['order-unsold-link', 'return-unsold-link'])
    })

    test('every table that names a workspace or a person is known here', async () => {
      // A new table must be erased by src/app/node/, and be filled by the tests above.
      assert.deepEqual(
        await tablesWith(service.place, ['workspace_id', 'workspace']),
        [
          'compat_settings',
          ...['assistant_settings', 'assistants', 'click_days', 'click_spools'],
          // On SQLite, files of their own, which are missing where clicks are in ClickHouse.
          ...((service.place.databaseUrl ?? !service.place.clicks) ? ['clicks'] : []),
          ...['conversion_counts', 'conversion_settings', 'conversions'],
          'default_domains',
          'deleted_links',
          'domain_settings',
          'event_authors',
          'group_bindings',
          'known_labels',
          'label_settings',
          ...['certificate_orders', 'domain_checks', 'domains', 'events', 'idempotency'],
          ...['imported_links', 'imports', 'keyspaces', 'link_buckets', 'link_tags', 'links'],
          ...['image_data', 'images', 'memberships', 'one_time_links', 'rule_sets'],
          // Those of SQLite are in the files of days.
          ...(service.place.databaseUrl === undefined ? [] : ['returned_clicks']),
          'returned_tallies',
          ...['tokens', 'unsettled_days', 'utm_templates', 'webhook_queues', 'webhooks'],
          'workspace_quotas',
        ].sort(),
      )
      assert.deepEqual(
        await tablesWith(service.place, ['person_id', 'actor_id', 'created_by', 'email_folded']),
        [
          ...['assistants', 'deleted_people', 'event_authors', 'identities', 'imports'],
          'memberships',
          ...['one_time_links', 'passkeys', 'passwords', 'people', 'recovery_codes'],
          ...['sessions', 'tokens', 'totp'],
        ],
      )
    })

    test('every table of ClickHouse that names a workspace or a link is known here', async (t) => {
      if (service.place.clicks === undefined) return t.skip('clicks are in the database')
      const found = await listClickColumns(service.place)
      const all = new Set(found.map(({ table }) => table))
      const ofSubjects = new Set(conditionsOf(found).keys())
      // A new one must be erased by src/clicks/store/clickhouse/erase-clicks.ts, and be filled by `addOldClicks`.
      assert.deepEqual([...ofSubjects].sort(), [
        ...['busy_days', 'click_counts', 'click_values', 'click_visitors', 'clicks', 'link_days'],
        ...['live_clicks', 'moved_tallies'],
      ])
      assert.deepEqual([...all.difference(ofSubjects)].sort(), [
        'click_blocks',
        'click_folds',
        'move_runs',
        'moved_days',
        'schema_migrations',
      ])
    })

    test('a kill between any two steps leaves a state from which the jobs go on', async () => {
      const api = await service.api('half-way')
      const { id } = await service.instance.workspaces.get('half-way')
      await addLink(api, 'half.localhost', 'half-key')
      await click('/half-key', 'half.localhost')
      await counted(api, 1)
      await service.instance.workspaces.delete(commandLine(id))
      // Everything but the last write of each step has happened.
      await runJobs(1)
      await writer.erase({ kind: 'workspace', workspaceId: id })
      await service.instance.store.write((stores) => stores.erasures.eraseSettings(id))
      await runJobs(8)
      await writer.erase({ kind: 'workspace', workspaceId: id })
      await expectGone({ workspace: id, host: 'half.localhost' })
      checkFiles(service.place)
    })

    test('nothing is left of a deleted person; events lose their author', async () => {
      const { body: session } = await operator.get('/session')
      operator.workspaceId = session.memberships[0].workspace_id
      const email = 'Erased@Example.com'
      const { body } = expectStatus(
        await operator.post('/invitations', { email, role: 'admin' }),
        201,
      )
      const code = new URL(body.url).hash.replace('#code=', '')
      const client = personClient(service)
      const given = { code, name: 'Erased Person', password: PASSWORD }
      const { id } = expectStatus(await client.post('/invitations/accept', given), 201).body.person
      client.workspaceId = operator.workspaceId
      const token = { name: 'CI', scopes: ['links:read'] }
      expectStatus(await client.post('/tokens', token), 201)
      const link = { domain: 'localhost', key: 'by-erased', url: 'https://example.com/' }
      expectStatus(await client.post('/links', link), 201)
      for (const invited of ['stays@example.com', 'open@example.com']) {
        const asked = await client.post('/invitations', { email: invited, role: 'viewer' })
        const url = new URL(expectStatus(asked, 201).body.url)
        if (invited === 'open@example.com') continue
        const account = { code: url.hash.slice('#code='.length), name: 'S', password: PASSWORD }
        expectStatus(await personClient(service).post('/invitations/accept', account), 201)
      }
      await allowAssistant(operator.workspaceId ?? '', id)

      expectStatus(await operator.delete(`/people/${id}`), 200)
      expectProblem(await client.get('/links'), 'unauthorized')
      await runJobs(0)
      // Transactions of other tests delay it too, because they share the server.
      await eventually(async () => {
        await runJobs(1)
        await expectGone({ id, name: 'Erased Person', email, folded: email.toLowerCase() })
      })
      const { body: events } = await operator.get('/events?type=link.created')
      const created = events.data.find(
        ({ after }: { after: { key: string } }) => after.key === 'by-erased',
      )
      assert.equal(created.actor.name, 'deleted person')
      const { body: tokens } = await operator.get('/tokens')
      assert.ok(
        tokens.data.some(({ name }: { name: string }) => name === 'CI'),
        'tokens stay',
      )
    })

    test('an event that commits late is erased too, however late', async (t) => {
      const { databaseUrl } = service.place
      if (databaseUrl === undefined) return t.skip('SQLite commits one transaction at a time')
      const id = randomUUID()
      const email = 'late@example.com'
      const now = systemClock().nowMicros()
      const late = new pg.Client(databaseUrl)
      await late.connect()
      t.after(() => late.end())
      await late.query('begin')
      await late.query(
        `insert into events (at, workspace, author, type, subject_id, after_fields)
          values ($1, 0, 0, 'person.updated', $2, $3)`,
        [now, id, JSON.stringify({ email })],
      )
      await service.api('with-later-events')
      const person = { id, email_folded: email, deleted_at: now }
      await service.instance.store.write(({ erasures }) => erasures.notePerson(person))
      await runJobs(0)
      for (let day = 1; day <= 3; day += 1) await runJobs(day)
      await late.query('commit')
      assert.notDeepEqual(await findText(service.place, id), [], 'there is something to erase')
      await eventually(async () => {
        await runJobs(4)
        await expectGone({ id, email })
      })
    })

    test('the last operator and the last owner of a workspace stay', async () => {
      const { body: me } = await operator.get('/me')
      expectProblem(await operator.delete(`/people/${me.id}`), 'validation_failed', ['id'])
      assert.equal((await operator.get('/me')).status, 200)
    })
  })
}

/** The tables with a column of one of these names, in the order of their names. */
async function tablesWith(place: Place, columns: readonly string[]): Promise<readonly string[]> {
  const found = await listColumns(place)
  const tables = found.filter(({ column }) => columns.includes(column)).map(({ table }) => table)
  return [...new Set(tables)].sort()
}

/** The conditions that find a workspace and its links in each table of ClickHouse that has a column for them. */
function conditionsOf(
  columns: readonly { readonly table: string; readonly column: string }[],
): ReadonlyMap<string, string> {
  const conditions: Readonly<Record<string, string>> = {
    workspace: 'workspace = {workspace:UUID}',
    link: 'link in {links:Array(UInt64)}',
    subject: 'scope = 0 and subject in {links:Array(UInt64)}',
  }
  const found = columns.flatMap(({ table, column }) => {
    const condition = conditions[column]
    return condition === undefined ? [] : [{ table, condition }]
  })
  return new Map(
    [...Map.groupBy(found, ({ table }) => table)].map(([table, of]) => [
      table,
      of.map(({ condition }) => `(${condition})`).join(' or '),
    ]),
  )
}

/** Counts the rows of a workspace and of links in each table of ClickHouse that has any column for them. */
async function clickRowsOf(
  place: Place,
  workspace: string,
  links: readonly number[],
): Promise<readonly (readonly [table: string, rows: number])[]> {
  const conditions = conditionsOf(await listClickColumns(place))
  const counted = await withClickHouse(place, (db) =>
    Promise.all(
      [...conditions].map(async ([table, where]) => {
        const [found] = await db.rows<{ rows: number }>(
          `select count() as rows from ${table} where ${where}`,
          { params: { workspace, links } },
        )
        return [table, found?.rows ?? 0] as const
      }),
    ),
  )
  return counted ?? []
}

/** Adds to ClickHouse what folded, moved and busy days leave of a workspace's links. Returns their numbers. */
async function addOldClicks(place: Place, workspace: string): Promise<readonly number[]> {
  const links = await withClickHouse(place, async (db) => {
    const params = { workspace }
    const found = await db.rows<{ link: number }>(
      'select distinct link from clicks where workspace = {workspace:UUID}',
      { params },
    )
    assert.equal(found.length, 3)
    await db.command(
      `insert into link_days (link, folded, day, slot, dimensions, values, persons, others)
      select distinct link, 1, 19000, 5, ['label'], ['gone-label'], [1], [0] from clicks
      where workspace = {workspace:UUID}`,
      { params },
    )
    await db.command(
      `insert into moved_tallies (day, version, chunk, scope, subject, workspace, persons, others, data)
      select distinct 19000, 1, 1, 0, link, toUUID('00000000-0000-0000-0000-000000000000'), 1, 0, 'gone-'
      from clicks where workspace = {workspace:UUID}
      union all select 19000, 1, 1, 2, 0, {workspace:UUID}, 1, 0, 'gone-'`,
      { params },
    )
    await db.command(
      `insert into busy_days (scope, subject, workspace, dimension, day, clicks, values, persons, others)
      select scope, subject, workspace, 'label', day, 500, ['gone-label'], [500], [0] from click_counts
      where workspace = {workspace:UUID} or (scope = 0 and subject in {links:Array(UInt64)})`,
      { params: { ...params, links: found.map(({ link }) => link) } },
    )
    return found.map(({ link }) => link)
  })
  return links ?? []
}

/** An import whose report names a link. */
async function addImport({ instance }: Service, workspaceId: string): Promise<void> {
  const added = newImport(workspaceId)
  const row = {
    ...{ import_id: added.id, number: 1, place: 'line 1', old_link: 'gone-old/link' },
    ...({ outcome: 'created', is_locked: 0, is_closed: 0, link_id: null, link: null } as const),
    ...{ reason: '', source_row: null, target: null },
  }
  await instance.store.write(async (stores) => {
    await stores.imports.insert(added)
    await stores.importRows.append([row])
  })
}

/** The rows with counts of links: those of the given ones must be gone. */
async function countsOf(place: Place, links: readonly { id: string }[]): Promise<number> {
  assert.equal(links.length, 3)
  if (place.databaseUrl !== undefined) {
    const { default: pg } = await import('pg')
    const client = new pg.Client(place.databaseUrl)
    await client.connect()
    const { rows } = await client.query('select count(*)::integer as rows from link_clicks')
    await client.end()
    return rows[0].rows
  }
  const database = openToRead(path.join(place.dataDir, 'clicks.db'), 5_000)
  const row = database.prepare('select count(*) as rows from link_clicks').get()
  database.close()
  return Number(row?.rows)
}

/** On SQLite: the sums that show whether files are whole must still be equal. */
function checkFiles({ databaseUrl, dataDir }: Place): void {
  if (databaseUrl !== undefined) return
  const folder = path.join(dataDir, 'clicks')
  // Missing where clicks are in ClickHouse.
  const days = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.db')) : []
  const checks = [
    { file: 'terse.db', check: checkLinkSums },
    {
      file: 'clicks.db',
      check: (db: Parameters<typeof checkLinkSums>[0]) => checkClickSums(db, { isFull: true }),
    },
    ...days.map((name) => ({
      file: path.join('clicks', name),
      check: (db: Parameters<typeof checkLinkSums>[0]) => checkDaySums(db, name),
    })),
  ]
  for (const { file, check } of checks) {
    const database = openToRead(path.join(dataDir, file), 5_000)
    assert.deepEqual(check(database), [], file)
    database.close()
  }
}
