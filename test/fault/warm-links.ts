import assert from 'node:assert/strict'
import { type Api, expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { visit } from '../support/visit.ts'
import type { VisitedNode } from './crowd.ts'

/** Links by their keys: their identifiers, and how often they have been followed. */
export type WarmLinks = {
  readonly ids: ReadonlyMap<string, string>
  readonly visits: ReadonlyMap<string, number>
}

/**
 * Creates links and visits each on every node, so that every node has them cached until they
 * change.
 */
export async function makeWarmLinks(
  api: Api,
  nodes: readonly VisitedNode[],
  keys: readonly string[],
): Promise<WarmLinks> {
  const ids = new Map<string, string>()
  const visits = new Map<string, number>()
  for (const key of keys) {
    const link = { domain: 'localhost', key, url: `https://example.com/${key}` }
    const once = { 'idempotency-key': key }
    const made = await eventually(async () =>
      expectStatus(await api.post('/links', link, once), 201),
    )
    ids.set(key, made.body.id)
  }
  await eventually(async () => {
    for (const key of keys) {
      for (const { port } of nodes) {
        assert.equal((await visit(port, `/${key}`)).status, 302)
        visits.set(key, (visits.get(key) ?? 0) + 1)
      }
    }
  })
  return { ids, visits }
}
