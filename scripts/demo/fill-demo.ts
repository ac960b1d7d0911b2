import type { Click } from '../../src/clicks/click.ts'
import { type Api, expectStatus } from '../../test/support/api.ts'
import type { FakeClock } from '../../test/support/fake-clock.ts'
import type { Service } from '../../test/support/service.ts'
import { seqOf, takeIn } from '../../test/support/taken-clicks.ts'
import { clicksOf } from './demo-clicks.ts'
import { DEMO_DOMAINS, type DemoLink, demoLinks, PENDING_DOMAIN } from './demo-links.ts'
import { randomFrom } from './random.ts'

export const DEMO_DAYS = 90
/** Where the pending domain is to lead. The address is one for documentation (RFC 5737). */
export const DEMO_TARGET = {
  TERSE_DNS_TARGET: 'go.terse.example',
  TERSE_PUBLIC_ADDRESSES: '203.0.113.10',
}
const [GO] = DEMO_DOMAINS
const DAY_SECONDS = 86_400
const SEED = 17
/** What a journal brings at once. */
const BATCH = 1_000
const TEMPLATES = [
  { name: 'Instagram', utm_source: 'instagram', utm_medium: 'social' },
  { name: 'Newsletter', utm_source: 'newsletter', utm_medium: 'email' },
  { name: 'Poster', utm_source: 'poster', utm_medium: 'print' },
]
const RULE_SETS = [
  {
    name: 'App stores',
    rules: [
      { when: { os: ['ios'] }, then: { url: 'https://apps.apple.com/app/example' } },
      {
        when: { os: ['android'] },
        then: { url: 'https://play.google.com/store/apps/details?id=com.example' },
      },
    ],
  },
  {
    name: 'German shop',
    rules: [{ when: { country: ['DE', 'AT'] }, then: { url: 'https://www.example.com/de' } }],
  },
]
const LABELS = { parameter: 'via', labels: ['newsletter', 'podcast', 'shop window'] }

/**
 * Makes a workspace as it looks after 90 days: the links over the API, each on its day, and their clicks
 * by the same ingestion as those of visitors.
 *
 * @param clock stands at the beginning of the 90 days; at the present afterwards
 */
export async function fillDemo(service: Service, clock: FakeClock): Promise<void> {
  const nowMs = clock.nowMicros() / 1_000 + DEMO_DAYS * DAY_SECONDS * 1_000
  const api = await service.api('acme')
  for (const domain of DEMO_DOMAINS) expectStatus(await api.post('/domains', { domain }), 201)
  for (const template of TEMPLATES) expectStatus(await api.post('/utm-templates', template), 201)
  const sets = new Map<string, string>()
  for (const set of RULE_SETS) {
    sets.set(set.name, expectStatus(await api.post('/rule-sets', set), 201).body.id)
  }
  expectStatus(await api.put('/labels', LABELS), 200)
  const { data: domains } = expectStatus(await api.get(`/domains?domain=${GO}`), 200).body
  const settings = { root_url: 'https://www.example.com/', utm: { utm_medium: 'short-link' } }
  expectStatus(await api.patch(`/domains/${domains[0].id}/settings`, settings), 200)

  const random = randomFrom(SEED)
  const clicks: Click[] = []
  let day = DEMO_DAYS
  const byAge = demoLinks(nowMs).toSorted((one, other) => other.daysAgo - one.daysAgo)
  for (const link of byAge) {
    clock.move((day - link.daysAgo) * DAY_SECONDS)
    day = link.daysAgo
    clicks.push(...clicksOf(link, await create(service, api, link, sets), nowMs, random))
  }
  clock.move(day * DAY_SECONDS)
  expectStatus(await api.post('/domains', { domain: PENDING_DOMAIN }), 201)
  clicks.sort((one, other) => one.at - other.at)
  for (let from = 0; from < clicks.length; from += BATCH) {
    await takeIn(service, clicks.slice(from, from + BATCH))
  }
}

/** Returns the number of the new link, to which its clicks refer. */
async function create(
  service: Service,
  api: Api,
  { fields, options, ruleSet, rules, examples }: DemoLink,
  sets: ReadonlyMap<string, string>,
): Promise<number> {
  const rule_set = ruleSet === undefined ? null : (sets.get(ruleSet) ?? null)
  const input = { ...fields, ...options, rule_set }
  // A link that has expired by now had its date ahead when it was made.
  const link = expectStatus(await api.post('/links', input), 201).body
  if (rules !== undefined) expectStatus(await api.put(`/links/${link.id}/rules`, { rules }), 200)
  if (examples !== undefined) {
    expectStatus(await api.put(`/links/${link.id}/examples`, { examples }), 200)
  }
  return seqOf(service, link)
}
