import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Stores } from '../../src/app/database/stores.ts'
import { NO_OVERRIDES } from '../../src/identity/quotas/quota.ts'
import { NO_COUNTS } from '../../src/imports/import.ts'
import { ImportSourceFault } from '../../src/imports/import-source.ts'
import { addPerson, newToken, unique } from '../storage/samples.ts'
import { describeStore } from '../support/store.ts'
import { FakeSource, linkRecord } from './fake-source.ts'
import { importServices, outcomesOf } from './import-services.ts'

type Starter = { readonly workspaceId: string; readonly personId: string; readonly tokenId: string }

describeStore('an import', (at) => {
  test('creates links with their dates, tags and values', async () => {
    const { importAll, linksByKey } = await importServices(at)
    const source = new FakeSource([
      linkRecord({ key: 'One', tags: ['a', 'b', 'a'], ios: 'https://example.com/ios' }),
      linkRecord({ key: 'two', expires_at: 1_900_000_000_000_000, rest: { title: 'Two' } }),
    ])
    const { ended, rows } = await importAll(source)
    assert.equal(ended.status, 'succeeded')
    assert.deepEqual(outcomesOf(rows), ['old.example/One created', 'old.example/two created'])
    const found = await linksByKey()
    const one = found.get('One')
    assert.deepEqual(
      [one?.url, one?.created_at, one?.tags, one?.ios],
      ['https://example.com/One', 1_600_000_000_000_000, ['a', 'b'], 'https://example.com/ios'],
    )
    assert.equal(found.get('two')?.expires_at, '2030-03-17T17:46:40.000000Z')
  })

  test('changes nothing when the same source is imported again', async () => {
    const { importAll, linksByKey } = await importServices(at)
    const records = [linkRecord({ key: 'one' }), linkRecord({ key: 'two', clicks: 5 })]
    await importAll(new FakeSource(records))
    const before = await linksByKey()
    for (const onConflict of ['skip', 'update', 'rename', 'fail'] as const) {
      const { ended, rows } = await importAll(new FakeSource(records), { options: { onConflict } })
      assert.equal(ended.status, 'succeeded', onConflict)
      assert.deepEqual(
        outcomesOf(rows),
        ['old.example/one skipped', 'old.example/two skipped'],
        onConflict,
      )
    }
    assert.deepEqual(await linksByKey(), before)
  })

  /** What ends the right of the person, or of the token, that started an import. */
  const ENDINGS: Record<string, (stores: Stores, of: Starter) => Promise<unknown>> = {
    'a person is demoted': (stores, { workspaceId, personId }) =>
      stores.memberships.setRole(workspaceId, personId, 'viewer', 'hand'),
    'a person is removed': (stores, { workspaceId, personId }) =>
      stores.memberships.delete(workspaceId, personId),
    'a person is disabled': (stores, { personId }) =>
      stores.people.update(personId, { disabled_at: 1 }),
    'a person is deleted': (stores, { personId }) => stores.people.delete(personId),
    'a token is revoked': (stores, { workspaceId, tokenId }) =>
      stores.tokens.revoke(workspaceId, tokenId, 1),
  }

  for (const [what, end] of Object.entries(ENDINGS)) {
    test(`ends with its reason once ${what} that started it`, async () => {
      const { importAll, linksByKey, actor, store, domains, host } = await importServices(at)
      const { workspaceId } = actor
      await domains.create(actor, { domain: host })
      const person = await addPerson(at.store)
      const token = newToken(workspaceId, { expires_at: null, scopes: ['links:write'] })
      const joined = { workspace_id: workspaceId, person_id: person.id, created_at: 1 }
      await store.write(async (stores) => {
        await stores.memberships.insert({ ...joined, role: 'member', source: 'hand' })
        await stores.tokens.insert(token, unique('hash'))
      })
      const starter = { workspaceId, personId: person.id, tokenId: token.id }
      // What fills a batch, and one more.
      const records = Array.from({ length: 251 }, (_, index) => linkRecord({ key: `k${index}` }))
      const onRead = (index: number) =>
        index === 250 && store.write((stores) => end(stores, starter))
      const isToken = what.startsWith('a token')
      const { ended } = await importAll(new FakeSource(records, [], onRead), {
        actor_kind: isToken ? 'token' : 'person',
        actor_id: isToken ? token.id : person.id,
      })
      assert.deepEqual([ended.status, ended.counts.created], ['failed', 250])
      assert.match(
        ended.fault ?? '',
        /^The person or token that started this import may no longer create links/,
      )
      assert.equal((await linksByKey()).has('k250'), false)
    })
  }

  test('adds no domain without the permission', async () => {
    const { importAll, actor, store } = await importServices(at)
    const { workspaceId } = actor
    const person = await addPerson(at.store)
    const joined = { workspace_id: workspaceId, person_id: person.id, created_at: 1 }
    await store.write((stores) =>
      stores.memberships.insert({ ...joined, role: 'member', source: 'hand' }),
    )
    const record = { kind: 'domain', place: 'one', domain: 'old.example', notes: [] } as const
    const source = new FakeSource([{ ...record, not_found_url: null, expired_url: null }])
    const { ended, rows } = await importAll(source, { actor_kind: 'person', actor_id: person.id })
    assert.deepEqual(
      [ended.status, ended.counts.refused, ended.counts.domains],
      ['succeeded', 1, 0],
    )
    assert.equal(
      rows[0]?.reason,
      'The person or token that started this import may not add domains.',
    )
    assert.deepEqual((await store.read.domains.page({ workspaceId }, 0, 1)).items, [])
  })

  test('locks what was protected, and closes what did not redirect', async () => {
    const { importAll, linksByKey } = await importServices(at)
    const away = 'https://example.com/expired'
    const { ended, rows } = await importAll(
      new FakeSource([
        linkRecord({ key: 'locked', protection: { kind: 'unknown password' } }),
        linkRecord({ key: 'known', protection: { kind: 'password', password: 'sesame' } }),
        linkRecord({ key: 'bad', protection: { kind: 'password', password: 'a\nb' } }),
        linkRecord({ key: 'closed', closed: 'It was disabled.', expired_redirect_url: away }),
        linkRecord({ key: 'js', url: 'javascript:alert(1)' }),
        linkRecord({ key: '' }),
        linkRecord({ key: 'tagged', tags: ['ok', 'x'.repeat(51)], ios: 'nowhere' }),
      ]),
    )
    assert.deepEqual(
      [ended.counts.created, ended.counts.refused, ended.counts.locked, ended.counts.closed],
      [5, 2, 2, 1],
    )
    const found = await linksByKey()
    for (const key of ['locked', 'known', 'bad']) assert.ok(found.get(key)?.password, key)
    const closed = found.get('closed')
    assert.deepEqual(
      [closed?.expires_at, closed?.expired_redirect_url],
      ['2020-09-13T12:26:40.000000Z', null],
    )
    assert.deepEqual([found.get('tagged')?.tags, found.get('tagged')?.ios], [['ok'], null])
    assert.match(rows.find(({ old_link }) => old_link.endsWith('/js'))?.reason ?? '', /http/)
  })

  const CONFLICTS = [
    { onConflict: 'skip', outcomes: ['a skipped', 'a skipped', 'b created'], keys: ['a', 'b'] },
    { onConflict: 'update', outcomes: ['a updated', 'a skipped', 'b created'], keys: ['a', 'b'] },
    {
      onConflict: 'rename',
      outcomes: ['a renamed', 'a renamed', 'b created'],
      keys: ['a', 'a-2', 'a-3', 'b'],
    },
    { onConflict: 'fail', outcomes: [], keys: ['a'] },
  ] as const

  for (const { onConflict, outcomes, keys } of CONFLICTS) {
    for (const is_dry_run of [1, 0]) {
      const what = is_dry_run === 1 ? 'shows without writing' : 'does'
      test(`${what} what ${onConflict} says when keys are taken`, async () => {
        const { importAll, linksByKey, host, actor, links: own } = await importServices(at)
        const taken = { domain: host, key: 'a', url: 'https://example.com/own', password: 'own' }
        await own.create(actor, taken)
        const { ended, rows } = await importAll(
          new FakeSource([
            linkRecord({ key: 'a', ref: '1' }),
            linkRecord({ key: 'a', ref: '2' }),
            linkRecord({ key: 'b' }),
          ]),
          { is_dry_run, options: { onConflict } },
        )
        assert.equal(ended.status, onConflict === 'fail' ? 'failed' : 'succeeded')
        assert.deepEqual(
          outcomesOf(rows).map((text) => text.replace('old.example/', '')),
          outcomes,
        )
        const found = await linksByKey()
        const left = is_dry_run === 1 ? ['a'] : keys
        assert.deepEqual([...found.keys()].toSorted(), left)
        const isUpdated = onConflict === 'update' && is_dry_run === 0
        assert.equal(found.get('a')?.url, `https://example.com/${isUpdated ? 'a' : 'own'}`)
        assert.ok(found.get('a')?.password, 'its password stays')
      })
    }
  }

  test('goes on behind what is written when its source fails, and reports each row once', async () => {
    const { importAll, clicks } = await importServices(at)
    const records = Array.from({ length: 700 }, (_, index) => [
      linkRecord({ key: `k${index}`, clicks: 3 }),
      {
        kind: 'click' as const,
        ref: `k${index}`,
        at: 1_600_000_000_000_000,
        address: null,
        user_agent: null,
        referrer: '',
        country: '',
        is_bot: false,
      },
    ]).flat()
    const { ended, rows } = await importAll(new FakeSource(records, [5, 900]))
    assert.equal(ended.status, 'succeeded')
    assert.deepEqual([rows.length, ended.counts.created, ended.counts.clicks], [700, 700, 700])
    assert.equal(clicks.spooled.length, 1_400)
  })

  test('takes what a source gives before it ends early, and fails with where it ends', async () => {
    const { importAll, linksByKey } = await importServices(at)
    class Incomplete extends FakeSource {
      override async *read(from: { readonly resume: string | undefined }) {
        yield* super.read(from)
        throw new ImportSourceFault('The file ends in line 4.', { isTransient: false })
      }
    }
    const source = new Incomplete(['a', 'b', 'c'].map((key) => linkRecord({ key })))
    const { ended, rows } = await importAll(source)
    assert.deepEqual([ended.status, ended.fault], ['failed', 'The file ends in line 4.'])
    assert.deepEqual([rows.length, ended.rows_done, (await linksByKey()).size], [3, 3, 3])
  })

  test('reports what an update has changed, and nothing else', async () => {
    const { importAll, host, actor, links: own } = await importServices(at)
    const unknown = { kind: 'unknown password' } as const
    for (const [key, password] of [
      ['open', null],
      ['protected', 'own'],
      ['same', 'own'],
    ] as const) {
      const url = `https://example.com/${key === 'same' ? key : 'own'}`
      await own.create(actor, { domain: host, key, url, password })
    }
    const keys = ['open', 'protected', 'same']
    const records = keys.map((key) => linkRecord({ key, protection: unknown }))
    const update = { onConflict: 'update' } as const
    for (const is_dry_run of [1, 0]) {
      const { ended, rows } = await importAll(new FakeSource(records), {
        is_dry_run,
        options: update,
      })
      const { updated, skipped, locked } = ended.counts
      assert.deepEqual([updated, skipped, locked], [2, 1, 1])
      assert.deepEqual(
        rows.map(({ reason }) => reason.includes('a random one')),
        [true, false, false],
      )
    }
    for (const is_dry_run of [1, 0]) {
      const again = await importAll(new FakeSource(records), { is_dry_run, options: update })
      const { updated, skipped, locked } = again.ended.counts
      assert.deepEqual([updated, skipped, locked], [0, 3, 0])
    }
  })

  test('refuses new links that use the path once the domain has its 1,000', async () => {
    const { importAll, linksByKey } = await importServices(at)
    const keys = Array.from({ length: 1_260 }, (_, index) => `k${index}`)
    const records = keys.map((key) => linkRecord({ key, options: { path: 'append' } }))
    const { ended, rows } = await importAll(new FakeSource(records))
    const { created, refused } = ended.counts
    assert.equal(created + refused, 1_260)
    // Those of one batch are looked at together.
    assert.ok(created >= 1_000 && created <= 1_250, `${created}`)
    assert.match(rows.at(-1)?.reason ?? '', /more than 1000 links of this domain/)
    const again = await importAll(new FakeSource(records.slice(0, 10)))
    assert.equal(again.ended.counts.skipped, 10)
    assert.equal((await linksByKey()).size, created)
  })

  test('ends when too many rows were refused', async () => {
    const { importAll } = await importServices(at)
    const refused = linkRecord({ key: 'js', url: 'javascript:alert(1)' })
    const counts = { ...NO_COUNTS, refused: 100_000 }
    const { ended } = await importAll(new FakeSource([refused]), { counts })
    assert.equal(ended.status, 'failed')
    assert.match(ended.fault ?? '', /More than 100000 rows were refused/)
  })

  test('writes only the clicks of rows that a killed process has written', async () => {
    const { importAll, add, run, clicks, store, linksByKey } = await importServices(at)
    const records = [linkRecord({ key: 'one', clicks: 3 }), linkRecord({ key: 'two' })]
    const first = await importAll(new FakeSource(records))
    // As it is between the two transactions of a batch.
    const between = { resume: null, ahead: ['one', 'two'], rows_done: 2, fence: 1 }
    await store.write((stores) => stores.imports.update(first.ended.id, 1, between))
    const again = await run({ ...first.ended, ...between }, new FakeSource(records))
    assert.deepEqual([again.rows_done, again.counts.created, (await linksByKey()).size], [2, 2, 2])
    assert.equal(clicks.spooled.filter(({ kind }) => kind === 'total').length, 2)
    assert.deepEqual(again.ahead, [])
    assert.ok((await add()).id)
  })

  test('keeps the host of links without a domain, though the workspace has got another', async () => {
    const { importAll, run, linksByKey, domains, actor, host, serviceHost } =
      await importServices(at)
    const keys = [unique('a'), unique('b')]
    const records = keys.map((key) => linkRecord({ key, domain: null }))
    const first = await importAll(new FakeSource(records.slice(0, 1)), { options: { domains: {} } })
    await domains.create(actor, { domain: host })
    const again = await run(first.ended, new FakeSource(records))
    assert.deepEqual([again.status, again.rows_done], ['succeeded', 2])
    const links = await linksByKey()
    assert.deepEqual(
      keys.map((key) => links.get(key)?.domain),
      [serviceHost.host, serviceHost.host],
    )
  })

  test('ends where a quota is reached, and goes on when it was raised', async () => {
    const { importAll, run, linksByKey, quotas, store, actor } = await importServices(at)
    const limit = async (links: number) => {
      const set = { ...NO_OVERRIDES, links }
      await store.write((stores) => stores.quotas.set(actor.workspaceId, set))
      quotas.forgetAll()
    }
    await limit(3)
    const records = ['a', 'b', 'c', 'd', 'e'].map((key) => linkRecord({ key }))
    const { ended } = await importAll(new FakeSource(records))
    assert.equal(ended.status, 'failed')
    assert.match(ended.fault ?? '', /quota of 3 links/)
    assert.equal((await linksByKey()).size, 3)
    await limit(10)
    const more = await run(ended, new FakeSource(records))
    assert.deepEqual([more.status, more.counts.created, more.rows_done], ['succeeded', 5, 5])
  })

  test('takes each link once when the same source is imported twice at once', async () => {
    const { importAll, linksByKey } = await importServices(at)
    const records = Array.from({ length: 60 }, (_, index) => linkRecord({ key: `k${index}` }))
    const both = await Promise.all(
      [0, 1].map(() => importAll(new FakeSource(records), { options: { onConflict: 'rename' } })),
    )
    const created = both.reduce((sum, { ended }) => sum + ended.counts.created, 0)
    assert.deepEqual([created, (await linksByKey()).size], [60, 60])
  })

  test('writes nothing after another process has leased it', async () => {
    const { add, run, store, linksByKey } = await importServices(at)
    const added = await add()
    await store.write((stores) => stores.imports.update(added.id, added.fence, { fence: 2 }))
    await assert.rejects(run(added, new FakeSource([linkRecord({ key: 'late' })])), {
      name: 'ImportTakenOver',
    })
    assert.equal((await linksByKey()).size, 0)
  })
})
