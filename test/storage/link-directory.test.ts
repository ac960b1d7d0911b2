import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Link } from '../../src/links/link.ts'
import { describeStore } from '../support/store.ts'
import { same } from './same.ts'
import { addDomain, addHome, addKeyspace, addLink } from './samples.ts'

describeStore('the link directory', (at) => {
  const findActiveHost = (host: string) => at.store.read.directory.findActiveHost(host)

  test('finds the keyspace and the fallbacks of an active host', async () => {
    const home = await addHome(at.store)
    await addDomain(at.store, home.workspace_id, {
      host: home.domain,
      status: 'active',
      not_found_url: 'https://example.com/lost',
      expired_url: 'https://example.com/late',
    })
    same(await findActiveHost(home.domain), {
      keyspaceId: home.keyspace_id,
      notFoundUrl: 'https://example.com/lost',
      expiredUrl: 'https://example.com/late',
      hstsMaxAge: null,
      settings: null,
    })
  })

  test('finds nothing for a host that is unknown, pending or without a claim', async () => {
    const [pending, unclaimed] = [await addHome(at.store), await addHome(at.store)]
    await addDomain(at.store, pending.workspace_id, { host: pending.domain })
    assert.equal(await findActiveHost(pending.domain), undefined)
    assert.equal(await findActiveHost(unclaimed.domain), undefined)
    assert.equal(await findActiveHost('nobody.example'), undefined)
  })

  test('finds the links of the workspace that proved the host, not of another that claims it', async () => {
    const [owner, pretender] = [await addHome(at.store), await addHome(at.store)]
    await at.store.write((stores) => stores.keyspaces.open(pretender.workspace_id, owner.domain))
    await addDomain(at.store, pretender.workspace_id, { host: owner.domain })
    await addDomain(at.store, owner.workspace_id, { host: owner.domain, status: 'active' })
    assert.equal((await findActiveHost(owner.domain))?.keyspaceId, owner.keyspace_id)
  })

  const visited = (link: Link) => {
    const { keyspace_id, domain, external_id, tags, archived, notes, examples, ...rest } = link
    const { clicks, last_click, created_at, updated_at, ...owned } = rest
    const { managed_by, managed_at, prevent_delete, ...columns } = owned
    return columns
  }

  test('finds the links whose keys differ only by letter case, at most two', async () => {
    const home = await addHome(at.store)
    const { directory } = at.store.read
    const elsewhere = await addKeyspace(at.store, home.workspace_id)
    await addLink(at.store, home, { key: 'ahre' })
    await addLink(at.store, elsewhere, { key: 'Ähre' })
    same(await directory.findByFoldedKey(home.keyspace_id, 'ähre'), [])
    const first = await addLink(at.store, home, { key: 'Ähre', password: 'p', ios: 'myapp://a' })
    same(await directory.findByFoldedKey(home.keyspace_id, 'ähre'), [visited(first)])
    const expires_at = '2030-01-01T00:00:00.000001Z'
    const second = await addLink(at.store, home, { key: 'äHRE', expires_at })
    const both = await directory.findByFoldedKey(home.keyspace_id, 'ähre')
    same(
      both.toSorted((a, b) => a.seq - b.seq),
      [visited(first), visited(second)],
    )
    await addLink(at.store, home, { key: 'ÄHRE' })
    assert.equal((await directory.findByFoldedKey(home.keyspace_id, 'ähre')).length, 2)
    same(await directory.findByFoldedKey(home.keyspace_id, 'Ähre'), [])
  })

  test('finds the link with exactly this key', async () => {
    const home = await addHome(at.store)
    const { directory } = at.store.read
    const upper = await addLink(at.store, home, { key: 'SALE' })
    const lower = await addLink(at.store, home, { key: 'sale' })
    same(await directory.findByKey(home.keyspace_id, 'SALE'), visited(upper))
    same(await directory.findByKey(home.keyspace_id, 'sale'), visited(lower))
    assert.equal(await directory.findByKey(home.keyspace_id, 'Sale'), undefined)
  })
})
