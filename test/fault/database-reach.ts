import assert from 'node:assert/strict'
import { type Api, expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { random } from '../support/random.ts'
import { visit } from '../support/visit.ts'
import type { VisitedNode } from './crowd.ts'

/**
 * The time limit of a node's answer while the database is unavailable, plus a margin for a busy
 * machine.
 */
export const API_MS_MAX = 3_000 + 4_000
/** A key without a link, visited before the outage. */
const ABSENT = 'absent'

/** Expects the answers of a node that cannot reach the database. */
export async function expectUnavailable(
  { port }: VisitedNode,
  api: Api,
  linkId: string,
): Promise<void> {
  for (const key of [ABSENT, `unknown-${Math.floor(random() * 1e9)}`]) {
    const unknown = await visit(port, `/${key}`)
    assert.equal(unknown.status, 503, `${key} may be there by now`)
    assert.match(unknown.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  }
  const startedMs = performance.now()
  const answer = await api.get(`/links/${linkId}`)
  const tookMs = performance.now() - startedMs
  assert.equal(answer.status, 503)
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  assert.ok(tookMs < API_MS_MAX, `the API took ${tookMs} ms`)
}

/** Expects a node to work again soon after the database is back. */
export async function expectRecovered({ port }: VisitedNode, api: Api): Promise<void> {
  await eventually(async () => {
    assert.equal((await visit(port, `/${ABSENT}`)).status, 404)
    const link = { domain: 'localhost', url: 'https://example.com/' }
    expectStatus(await api.post('/links', link), 201)
  })
}
