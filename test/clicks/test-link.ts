import assert from 'node:assert/strict'
import type { FullStore } from '../../src/app/database/stores.ts'
import type { ClickScope } from '../../src/clicks/report/day-of-clicks.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { Workspaces } from '../../src/identity/workspaces/workspaces.ts'
import { NO_ATTRIBUTES } from '../../src/links/link.ts'
import { systemRandom, uuidV7 } from '../../src/platform/crypto/random.ts'
import type { Clock } from '../../src/platform/time/clock.ts'

const HOST = 'links.localhost'

export type TestLink = {
  readonly seq: number
  readonly scope: ClickScope
  counters(): Promise<{ clicks: number | undefined; last_click: number | null | undefined }>
}

/** Creates a link without clicks. */
export async function createTestLink(store: FullStore, clock: Clock): Promise<TestLink> {
  const owner = await new Workspaces({ store, clock, random: systemRandom }).ensure(
    commandLine,
    'acme',
  )
  const id = uuidV7(clock, systemRandom)
  const now = clock.nowMicros()
  const link = await store.write(async (stores) =>
    stores.links.insert({
      ...NO_ATTRIBUTES,
      id,
      workspace_id: owner.id,
      keyspace_id: await stores.keyspaces.open(owner.id, HOST),
      domain: HOST,
      key: id,
      url: 'https://example.com/',
      created_at: now,
      updated_at: now,
      managed_at: null,
    }),
  )
  assert.ok(link)
  return {
    seq: link.seq,
    scope: { kind: 'link', workspaceId: owner.id, linkSeq: link.seq },
    async counters() {
      const found = await store.read.links.findById(owner.id, id)
      return { clicks: found?.clicks, last_click: found?.last_click }
    },
  }
}
