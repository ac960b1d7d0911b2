import assert from 'node:assert/strict'
import type { Page, Request } from 'playwright-core'
import { eventually } from './eventually.ts'

/** The requests of a page. */
type Requests = {
  /** Requests without a whole answer yet. */
  readonly open: Set<Request>
  begun: number
}

/** All charts of a page are counted by threads of the lowest priority, which other tests leave little time. */
const PATIENCE_MS = 60_000

const requestsOf = new WeakMap<Page, Requests>()

/** Within the page: lets two frames pass, so that what has been answered is shown, and names what is not at rest. */
const RESTLESS = `(async () => {
  const turn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
  await turn()
  await turn()
  // Behind a dialog that asks the person for something, what it is asked for waits.
  const busy = [...document.querySelectorAll('[aria-busy="true"]')].filter(
    (node) => node.closest('[inert], [aria-hidden="true"]') === null,
  )
  const moving = document.getAnimations().filter(({ playState }) => playState === 'running')
  return [
    ...busy.map(({ tagName, className }) => 'busy: ' + tagName + ' ' + className),
    ...moving.map(({ effect }) => 'moving: ' + effect.target?.className),
  ]
})()`

/** Follows the requests of a page from here on, so that `settle` can wait for them. */
export function watchRequests(page: Page): void {
  const requests: Requests = { open: new Set(), begun: 0 }
  requestsOf.set(page, requests)
  page.on('request', (request) => {
    if (!/^https?:/.test(request.url())) return
    // Nothing more is reported of the page that is left.
    if (request.isNavigationRequest()) requests.open.clear()
    requests.open.add(request)
    requests.begun += 1
  })
  const end = (request: Request) => requests.open.delete(request)
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  page.on('response', (response) => {
    // Its body does not end.
    if (response.headers()['content-type']?.startsWith('text/event-stream')) end(response.request())
  })
}

/** Waits until the page loads nothing, marks nothing as busy and moves nothing. */
export async function settle(page: Page): Promise<void> {
  const check = async () => assert.deepEqual(await restlessOf(page), [], page.url())
  await eventually(check, PATIENCE_MS)
}

async function restlessOf(page: Page): Promise<readonly unknown[]> {
  const requests = requestsOf.get(page)
  const loading = [...(requests?.open ?? [])].map((request) => request.url())
  const begun = requests?.begun
  const restless = (await page.evaluate(RESTLESS)) as readonly unknown[]
  if (requests?.begun !== begun) loading.push('a request that has begun meanwhile')
  return [...restless, ...loading]
}
