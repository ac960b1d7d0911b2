import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Link, LinkAttributes, UncountedLink } from '../../src/links/link.ts'
import { StaleRow, UniqueViolation } from '../../src/storage/store.ts'
import { someClick } from '../support/clicks.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import {
  addHome,
  addKeyspace,
  addLink,
  type Home,
  insertLink,
  listOf,
  NOW,
  newLink,
  unique,
} from './samples.ts'

/** A value in every field, each at the limit of its range. */
const EVERY_ATTRIBUTE: LinkAttributes = {
  url: `https://example.com/${'a'.repeat(8_000)}`,
  ios: 'https://apps.example.com/ios',
  android: 'myapp://open',
  utm_source: 'Zürich',
  utm_medium: 'e-mail',
  utm_campaign: '10 % off',
  utm_term: "o'clock",
  utm_content: '"quoted"',
  utm_name: '\\back',
  external_id: Number.MAX_SAFE_INTEGER,
  password: 'sealed',
  expires_at: '9999-12-31T23:59:59.999999Z',
  expired_redirect_url: 'https://example.com/late',
  rules: [{ id: 'r1', when: { country: ['DE'] }, then: { url: 'https://example.com/de' } }],
  examples: [{ name: 'ä', visitor: { country: 'JP' }, expected: { location: null } }],
  max_clicks: 1_000_000_000,
  active_from: '2026-12-01T08:00:00.000000Z',
  archived: true,
  notes: 'a\nb',
  path: 'append',
  query: 'drop',
  rule_set: '00000000-0000-7000-8000-000000000001',
  title: 'Spring “sale”',
  description: 'Everything\u00a0must go',
  image: 'https://example.com/picture.png',
  track_conversions: false,
  managed_by: 'flyers',
  prevent_delete: true,
  tags: ['zeta', 'Älpha', 'beta', '🦊'],
}

describeStore('the link store', (at, engine) => {
  const findById = (link: Link) => at.store.read.links.findById(link.workspace_id, link.id)

  test('returns an inserted link with its number, and finds it with every field', async () => {
    const home = await addHome(at.store)
    const wanted = newLink(home, { ...EVERY_ATTRIBUTE, updated_at: NOW + 1 })
    const link = await at.store.write((stores) => stores.links.insert(wanted))
    assert.ok(link !== undefined)
    same(link, { ...wanted, seq: link.seq, clicks: 0, last_click: null })
    same(await findById(link), link)
  })

  test('numbers links upwards and never gives a number twice', async () => {
    const home = await addHome(at.store)
    const first = await addLink(at.store, home)
    const second = await addLink(at.store, home)
    await at.store.write((stores) => stores.links.delete(home.workspace_id, second.id))
    const third = await addLink(at.store, home)
    assert.ok(first.seq < second.seq && second.seq < third.seq)
  })

  test('does not find a link for another workspace', async () => {
    const link = await addLink(at.store, await addHome(at.store))
    const foreign = await addHome(at.store)
    assert.equal(await at.store.read.links.findById(foreign.workspace_id, link.id), undefined)
    assert.equal(await at.store.read.links.findById(link.workspace_id, randomUUID()), undefined)
  })

  test('rejects a key that exists in its keyspace with the same letter case', async () => {
    const home = await addHome(at.store)
    const elsewhere = await addKeyspace(at.store, home.workspace_id)
    const scenarios: { key: string; home: Home; taken: boolean }[] = [
      { key: 'Spring', home, taken: false },
      { key: 'Spring', home, taken: true },
      { key: 'spring', home, taken: false },
      { key: 'SPRING', home, taken: false },
      { key: 'Spring', home: elsewhere, taken: false },
      { key: 'Straße', home, taken: false },
      { key: 'STRASSE', home, taken: false },
      { key: 'Straße', home, taken: true },
    ]
    for (const scenario of scenarios) {
      const wanted = newLink(scenario.home, { key: scenario.key, tags: ['a'] })
      const link = await at.store.write((stores) => stores.links.insert(wanted))
      assert.equal(link === undefined, scenario.taken, scenario.key)
    }
    const { total } = await at.store.read.links.page(listOf(home.workspace_id))
    assert.equal(total, scenarios.filter(({ taken }) => !taken).length)
  })

  test('gives a key to one of several processes that ask at the same time', async () => {
    const home = await addHome(at.store)
    const other = await at.another()
    const links = await Promise.all(
      [at.store, other.store, at.store, other.store].map((store) =>
        store.write((stores) => stores.links.insert(newLink(home, { key: 'contested' }))),
      ),
    )
    assert.equal(links.filter((link) => link !== undefined).length, 1)
    const { total } = await at.store.read.links.page(listOf(home.workspace_id))
    assert.equal(total, 1)
  })

  test('updates everything but the identifiers and the counters', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home, { tags: ['before'] })
    await at.take([someClick({ link_seq: link.seq, at: NOW + 3 })])
    const target = await addKeyspace(at.store, home.workspace_id)
    const changed = { ...EVERY_ATTRIBUTE, ...target, key: 'Renamed', updated_at: NOW + 5 }
    const next: Link = { ...link, ...changed, created_at: NOW + 9, clicks: 77, last_click: 77 }
    await at.store.write((stores) => stores.links.update(next, link))
    same(await findById(link), {
      ...link,
      ...changed,
      clicks: 1,
      last_click: NOW + 3,
    })
    const tagged = (tag: string) =>
      at.store.read.links.page(listOf(home.workspace_id, { tags: [tag] }))
    assert.equal((await tagged('before')).total, 0)
    for (const tag of EVERY_ATTRIBUTE.tags) assert.equal((await tagged(tag)).total, 1, tag)
  })

  test('rejects an update based on a stale read', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home, { tags: ['kept'] })
    const newer = { ...link, url: 'https://example.com/new', updated_at: NOW + 1 }
    await at.store.write(async (stores) => {
      await stores.links.update(newer, link)
      const older = { ...link, tags: [], updated_at: NOW + 2 }
      await assert.rejects(stores.links.update(older, link), StaleRow)
    })
    same(await findById(link), newer)
  })

  test('rejects a rename based on a stale read as stale, not for its key', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home)
    const newer = { ...link, url: 'https://example.com/new', updated_at: NOW + 1 }
    await at.store.write((stores) => stores.links.update(newer, link))
    const rename = { ...link, key: unique('renamed'), updated_at: NOW + 2 }
    await at.store
      .write(async (stores) => {
        await assert.rejects(stores.links.update(rename, link), StaleRow)
        throw new Error('ends the transaction')
      })
      .catch(({ message }) => assert.equal(message, 'ends the transaction'))
    same(await findById(link), newer)
  })

  test('rejects an update to an existing key, and leaves the link unchanged', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home, { tags: ['kept'] })
    const { key } = await addLink(at.store, home)
    await assert.rejects(
      at.store.write((stores) =>
        stores.links.update({ ...link, key, tags: ['new'], updated_at: NOW + 1 }, link),
      ),
      UniqueViolation,
    )
    same(await findById(link), link)
    const tagged = await at.store.read.links.page(listOf(home.workspace_id, { tags: ['kept'] }))
    same(tagged, { items: [link], total: 1 })
  })

  test('returns a deleted link, once, and only to its own workspace', async () => {
    const home = await addHome(at.store)
    const foreign = await addHome(at.store)
    const link = await addLink(at.store, home, { ...EVERY_ATTRIBUTE })
    const remove = (workspaceId: string) =>
      at.store.write((stores) => stores.links.delete(workspaceId, link.id))
    assert.equal(await remove(foreign.workspace_id), undefined)
    const { clicks, last_click, ...uncounted } = link
    same(await remove(home.workspace_id), uncounted)
    assert.equal(await remove(home.workspace_id), undefined)
    assert.equal(await findById(link), undefined)
    for (const query of [
      listOf(home.workspace_id),
      listOf(home.workspace_id, { tags: ['beta'] }),
    ]) {
      same(await at.store.read.links.page(query), { items: [], total: 0 })
    }
  })

  test('accepts the key of a deleted link again', async () => {
    const home = await addHome(at.store)
    const link = await addLink(at.store, home)
    await at.store.write((stores) => stores.links.delete(home.workspace_id, link.id))
    assert.ok(await at.store.write((stores) => insertLink(stores, home, { key: link.key })))
  })

  if (engine.name === 'PostgreSQL') {
    test('returns the link as it was deleted, including a change of a moment before', async () => {
      const home = await addHome(at.store)
      const link = await addLink(at.store, home, { key: 'before' })
      let removing: Promise<UncountedLink | undefined> | undefined
      await at.db.transaction().execute(async (tx) => {
        const changed = { key: 'after', key_folded: 'after', updated_at: NOW + 1 }
        await tx.updateTable('links').set(changed).where('seq', '=', link.seq).execute()
        removing = at.store.write((stores) => stores.links.delete(home.workspace_id, link.id))
        await untilSomeoneWaitsForALock()
      })
      assert.equal((await removing)?.key, 'after')
    })

    async function untilSomeoneWaitsForALock(): Promise<void> {
      for (;;) {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(at.db)
        if (rows.length > 0) return
      }
    }
  }
})
