import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { BulkLinksAnswer } from '@terse/contract/bulk-links'
import fc from 'fast-check'
import { type Api, expectStatus, untilServed } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { readOperations as readValidRequests } from '../support/operations.ts'
import { API_CASES } from '../support/properties.ts'
import { SEED } from '../support/random.ts'
import { type Service, startService } from '../support/service.ts'
import { assertDescribed, assertRefused, jsonOf } from './answer-rules.ts'
import { type RequestPlan, requestFor, requestForNothing } from './arbitrary-request.ts'
import { KeepAliveClient, type ReceivedAnswer, type SentRequest } from './keep-alive-client.ts'
import { type Operation, readOperations } from './openapi-operations.ts'
import { openWorkspaceUnderTest, type WorkspaceUnderTest } from './workspace-under-test.ts'

/** Share of a run's requests; the rest goes to operations for people, which refuse tokens. */
const SHARE_OF_KNOWN_THINGS = 0.8

/** Whether the run has tokens and identifiers with which the operation can succeed. */
function isForKnownThings({ path }: Operation): boolean {
  // A preview needs a page to read, an undone change one that can be undone.
  if (/\/(preview|revert)$/.test(path)) return false
  return /^\/api\/v1\/(links|domains|clicks|usage|tags|events)\b/.test(path)
}

for (const engine of ENGINES) {
  describe(`the API under random requests, on ${engine.title}`, () => {
    let service: Service
    let workspace: WorkspaceUnderTest
    let client: KeepAliveClient
    let operations: Operation[]
    let validRequests: Awaited<ReturnType<typeof readValidRequests>>
    let foreignBefore: unknown

    const started = new AsyncDisposableStack()
    before(async () => {
      service = await startService(engine)
      started.defer(() => service.stop())
      workspace = await openWorkspaceUnderTest(service)
      client = new KeepAliveClient(service.port)
      started.defer(() => client.close())
      operations = readOperations((await workspace.api.get('/openapi.json')).body)
      validRequests = await readValidRequests(service.baseUrl)
      foreignBefore = await everythingOf(workspace.foreign)
    })
    after(() => started.disposeAsync())

    /**
     * The first request of an operation: of random ones of a short run perhaps none is valid. Each is for another
     * thing, as those of others may delete theirs.
     */
    function validPlan(operation: Operation): RequestPlan {
      const name = `${operation.method} ${operation.path}`
      const valid = validRequests.find((request) => request.name === name)
      if (valid === undefined) throw new Error(`no valid request is known of ${name}`)
      const { validBody, pathFor } = valid
      return {
        operation,
        id: {
          kind: operation.path.includes('/links') ? 'link' : 'domain',
          nth: operations.indexOf(operation),
        },
        query: pathFor('').split('?')[1] ?? '',
        caller: { kind: 'owner' },
        headers: validBody === undefined ? {} : { 'content-type': 'application/json' },
        body: validBody && Buffer.from(JSON.stringify(validBody)),
      }
    }

    async function send(plan: RequestPlan): Promise<[SentRequest, ReceivedAnswer]> {
      const path = plan.operation.path.replace('{id}', workspace.resolve(plan.id))
      const authorization = workspace.authorization(plan.caller)
      const sent: SentRequest = {
        method: plan.operation.method,
        target: plan.query === '' ? path : `${path}?${plan.query}`,
        headers: { ...plan.headers, ...(authorization !== undefined && { authorization }) },
        body: plan.body,
      }
      const answer = await client.send(sent)
      if (answer.status < 300) noteChange(plan.operation, path, answer)
      return [sent, answer]
    }

    function noteChange({ method, path }: Operation, sentPath: string, answer: ReceivedAnswer) {
      const ledger = path.includes('/links') ? workspace.links : workspace.domains
      if (path.endsWith('/bulk')) noteBulk(jsonOf(answer) as BulkLinksAnswer)
      if (method === 'DELETE') ledger.noteDeleted(sentPath.split('/').at(-1) ?? '')
      if (method !== 'POST' || !/\/(links|domains)$/.test(path)) return
      const created = jsonOf(answer) as { id: string; workspace_id: string }
      assert.equal(created.workspace_id, workspace.id)
      ledger.noteCreated(created.id)
    }

    function noteBulk({ action, results }: BulkLinksAnswer) {
      for (const { id } of results.filter(({ status }) => status === 'succeeded')) {
        if (action === 'create') workspace.links.noteCreated(id ?? '')
        if (action === 'delete') workspace.links.noteDeleted(id ?? '')
      }
    }

    test('returns only answers that the OpenAPI document describes', {
      concurrency: true,
    }, async (t) => {
      const cases = API_CASES / ENGINES.length
      const known = operations.filter(isForKnownThings)
      const others = operations.length - known.length + 1
      const numRuns = Math.ceil((cases * SHARE_OF_KNOWN_THINGS) / known.length)
      const numRunsOfOthers = Math.ceil((cases * (1 - SHARE_OF_KNOWN_THINGS)) / others)
      const run = (nth: number, isKnown: boolean) => ({
        numRuns: isKnown ? numRuns : numRunsOfOthers,
        seed: SEED + nth,
      })
      const refusals = new Set<number>()
      const subtests = operations.map((operation, nth) =>
        t.test(`${operation.method} ${operation.path}`, async (subtest) => {
          const seen = new Map<number, number>()
          const property = fc.asyncProperty(requestFor(operation), async (plan) => {
            const [sent, answer] = await send(plan)
            assertDescribed(operation, sent, answer)
            seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
          })
          const isKnown = isForKnownThings(operation)
          const examples: [RequestPlan][] = isKnown ? [[validPlan(operation)]] : []
          await fc.assert(property, { ...run(nth, isKnown), examples })
          const tally = [...seen].sort().map(([status, times]) => `${status} × ${times}`)
          subtest.diagnostic(tally.join(', '))
          for (const status of seen.keys()) refusals.add(status)
          const hasSucceeded = seen.has(200) || seen.has(201)
          assert.ok(hasSucceeded || !isKnown, 'no request of the run succeeded')
        }),
      )
      subtests.push(
        t.test('methods and paths without an operation', () =>
          fc.assert(
            fc.asyncProperty(requestForNothing(operations), async (plan) => {
              assertRefused(...(await send(plan)))
            }),
            run(operations.length, false),
          ),
        ),
      )
      await Promise.all(subtests)
      // Which scope each operation needs is tested elsewhere, for each.
      assert.ok(refusals.has(401) && refusals.has(403), 'no request was refused for its token')
    })

    test('lists exactly what was created and not deleted', async () => {
      const links = await listAll(workspace.api, '/links', '&archived=any')
      assert.deepEqual(links.map(({ id }) => id).sort(), workspace.links.live().sort())
      const domains = new Set((await listAll(workspace.api, '/domains')).map(({ id }) => id))
      for (const id of workspace.domains.live()) assert.ok(domains.has(id), id)
      for (const id of domains) assert.ok(!workspace.domains.isDeleted(id), id)
    })

    test('changes nothing in another workspace', async () => {
      assert.deepEqual(await everythingOf(workspace.foreign), foreignBefore)
    })
  })
}

type Listed = { readonly id: string; readonly workspace_id: string }

/** Every item of a list, page by page; asserts that the total equals their number. */
async function listAll(api: Api, path: string, filter = ''): Promise<Listed[]> {
  const items: Listed[] = []
  for (let page = 1; ; page += 1) {
    const list = `${path}?per_page=100&page=${page}${filter}`
    const { body } = expectStatus(await untilServed(() => api.get(list)), 200)
    items.push(...body.data)
    if (body.links.next !== null) continue
    assert.equal(body.meta.total, items.length)
    return items
  }
}

async function everythingOf(api: Api): Promise<unknown> {
  return { links: await listAll(api, '/links'), domains: await listAll(api, '/domains') }
}
