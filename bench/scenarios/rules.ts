import type { Rule, When } from '@terse/contract/rules'
import { NOWHERE, parseUserAgent, type RawVisit } from '../../src/clicks/index.ts'
import { visitorFacts } from '../../src/clicks/record/click-maker.ts'
import { decide, type Visit } from '../../src/redirects/decide.ts'
import { RuleVisitor } from '../../src/redirects/rule-visitor.ts'
import { compileRules } from '../../src/redirects/rules.ts'
import { AGENTS } from '../../test/redirect/agents.ts'
import { preparedLink } from '../../test/redirect/prepared-links.ts'
import type { Scenario } from '../support/scenario.ts'
import { median, round } from '../support/statistics.ts'

const VISITORS = 64
const VISITS_PER_ROUND = 200_000
const TEN_RULES_MICROS_MAX = 1.5
const NOW_MS = Date.UTC(2026, 5, 1)
const HOST = {
  keyspaceId: 1,
  notFoundUrl: null,
  expiredUrl: null,
  hstsMaxAge: null,
  settings: null,
}

/** Nine rules that take no visitor below, of the kinds that people use, and a split for all. */
const CONDITIONS: readonly When[] = [
  { country: ['US', 'CA'], device: ['phone'] },
  { os: ['windows'], language: ['ja'] },
  { language: ['pt-BR', 'zh-TW'] },
  { country: ['asia'], not: { bot: true } },
  { referrer: ['news.example.com'] },
  { device: ['tv'] },
  { qr: true },
  { any: [{ browser: ['opera'] }, { country: ['JP'] }] },
  { time: [{ weekdays: ['sun'], hours: { from: '09:00', until: '12:00' }, zone: 'Asia/Tokyo' }] },
]
const RULES: readonly Rule[] = [
  ...CONDITIONS.map((when, index) => ({
    ...{ id: `r${index}`, when },
    // biome-ignore format: one line
    then: { url: `https://example.com/${index}` },
  })),
  {
    ...{ id: 'split', when: {} },
    then: {
      split: [
        { name: 'A', url: 'https://example.com/a', weight: 60 },
        { name: 'B', url: 'https://example.com/b', weight: 40 },
      ],
    },
  },
]

/** What a decision costs for a link without rules, and for one with ten, of which the last decides. */
export const rules: Scenario = {
  name: 'rules',
  description: 'the decision for a visit, without rules and with ten, in one process',
  async run({ rounds }) {
    const facts = visitorFacts({
      salts: { at: () => SALT },
      places: (address) => ({ ...NOWHERE, country: address.endsWith('1') ? 'DE' : 'FR' }),
    })
    const visits = Array.from({ length: VISITORS }, (_, index) => rawVisit(index))
    const plain = preparedLink()
    const ruled = preparedLink({ rules: compileRules(RULES) })
    const without: number[] = []
    const withTen: number[] = []
    for (let round = 0; round <= rounds; round += 1) {
      const first = microsPerVisit(plain, visits, facts)
      const second = microsPerVisit(ruled, visits, facts)
      // V8 compiles during the first round.
      if (round === 0) continue
      without.push(first)
      withTen.push(second)
    }
    const added = median(withTen) - median(without)
    return {
      rows: [
        { rules: 0, 'µs per decision': round(median(without), 2) },
        { rules: RULES.length, 'µs per decision': round(median(withTen), 2) },
      ],
      targets: [{ what: 'µs more with ten rules', value: added, atMost: TEN_RULES_MICROS_MAX }],
      missing: [],
    }
  },
}

const SALT = { day: 0, text: '', key: [1, 2, 3, 4] } as const
const BROWSERS = [AGENTS.iPhone, AGENTS.android, AGENTS.iPad]
const LANGUAGES = ['de-DE,de;q=0.9,en;q=0.8', 'fr', 'en-US,en;q=0.9']

function rawVisit(index: number) {
  return {
    address: `192.0.2.${index}`,
    userAgent: BROWSERS[index % BROWSERS.length],
    acceptLanguage: LANGUAGES[index % LANGUAGES.length],
    referer: index % 2 === 0 ? undefined : 'https://www.example.org/',
  } satisfies Partial<RawVisit>
}

/** Decides as the redirect does, with nothing found before but the agent's device. Returns processor time. */
function microsPerVisit(
  link: Visit['link'],
  visits: readonly ReturnType<typeof rawVisit>[],
  facts: ReturnType<typeof visitorFacts>,
): number {
  let lengths = 0
  const started = process.cpuUsage()
  for (let number = 0; number < VISITS_PER_ROUND; number += 1) {
    const raw = visits[number % VISITORS] as ReturnType<typeof rawVisit>
    const { address, userAgent } = raw
    const visit: Visit = {
      ...{
        host: HOST,
        isRoot: false,
        link,
        path: undefined,
        sets: [],
        query: '',
        knowsPassword: false,
      },
      labelParameter: null,
      device: parseUserAgent(userAgent).device,
      visitorOf: ({ query }, label) =>
        new RuleVisitor({
          ...{ atMs: NOW_MS, query, label, userAgent },
          acceptLanguage: raw.acceptLanguage,
          referer: raw.referer,
          address: () => address,
          place: () => facts.place(address),
          visitor: () => facts.visitor(address, userAgent, NOW_MS * 1000),
          keptVariant: () => undefined,
        }),
    }
    const decision = decide(visit, NOW_MS)
    if (decision.kind === 'redirect') lengths += decision.location.length
  }
  const { user, system } = process.cpuUsage(started)
  if (lengths === 0) throw new Error('no visit was redirected')
  return (user + system) / VISITS_PER_ROUND
}
