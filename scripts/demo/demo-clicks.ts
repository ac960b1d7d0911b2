import type { RuleInput } from '@terse/contract/rules'
import { CLICK_FLAGS, type Click } from '../../src/clicks/click.ts'
import { someClick } from '../../test/support/clicks.ts'
import type { DemoLink } from './demo-links.ts'
import { pick } from './random.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const BOT_SHARE = 0.06
const RETURN_SHARE = 0.2

const COUNTRIES = [
  ['DE', 44],
  ['AT', 11],
  ['CH', 9],
  ['US', 8],
  ['GB', 6],
  ['FR', 5],
  ['NL', 4],
  ['PL', 3],
  ['IT', 2],
  ['ES', 2],
  ['SE', 2],
  ['BR', 1],
  ['JP', 1],
  ['IN', 1],
  ['', 1],
] as const
const LANGUAGES: Readonly<Record<string, string>> = {
  DE: 'de',
  AT: 'de',
  CH: 'de',
  FR: 'fr',
  NL: 'nl',
  PL: 'pl',
  IT: 'it',
  ES: 'es',
  SE: 'sv',
  BR: 'pt',
  JP: 'ja',
}
/** Device, system and browser. */
const DEVICES: readonly (readonly [readonly [string, string, string], number])[] = [
  [['mobile', 'iOS', 'Safari'], 34],
  [['mobile', 'Android', 'Chrome'], 25],
  [['desktop', 'Windows', 'Chrome'], 14],
  [['desktop', 'macOS', 'Safari'], 9],
  [['desktop', 'Windows', 'Edge'], 6],
  [['desktop', 'Linux', 'Firefox'], 4],
  [['tablet', 'iPadOS', 'Safari'], 4],
  [['mobile', 'Android', 'Firefox'], 3],
]
const REFERRERS = [
  ['', 46],
  ['www.instagram.com', 16],
  ['www.google.com', 12],
  ['www.linkedin.com', 9],
  ['news.ycombinator.com', 4],
  ['duckduckgo.com', 4],
  ['www.example.com', 6],
  ['mastodon.social', 3],
] as const
/** Visits of each hour of the day, from midnight on. */
const HOURS = [2, 1, 1, 1, 1, 2, 4, 7, 9, 10, 9, 9, 10, 9, 8, 8, 9, 10, 11, 12, 11, 9, 6, 4].map(
  (weight, hour) => [hour, weight] as const,
)

/** The clicks of a link on all days from its creation to the present, in the order of time. */
export function clicksOf(
  link: DemoLink,
  linkSeq: number,
  nowMs: number,
  random: () => number,
): readonly Click[] {
  const clicks: Click[] = []
  const today = Math.floor(nowMs / DAY_MS)
  const endMs = Math.min(nowMs, Date.parse(link.fields.expires_at ?? '') || nowMs)
  for (let age = link.daysAgo; age >= 0; age -= 1) {
    const day = today - age
    const amount = Math.round(amountOn(link, link.daysAgo - age, day) * (0.75 + random() / 2))
    let visitor = 0
    for (let nth = 0; nth < amount; nth += 1) {
      const atMs = (day * 24 + pick(random, HOURS)) * HOUR_MS + Math.floor(random() * HOUR_MS)
      if (visitor === 0 || random() > RETURN_SHARE) visitor = 1 + Math.floor(random() * 2 ** 40)
      const at = atMs * 1_000
      if (atMs < endMs) clicks.push(oneClick(at, linkSeq, visitor, link, random))
    }
  }
  return clicks.sort((one, other) => one.at - other.at)
}

function amountOn({ perDay, course }: DemoLink, daysSince: number, day: number): number {
  const weekday = (day + 4) % 7
  const isWeekend = weekday === 0 || weekday === 6
  const week = isWeekend ? 0.6 : 1
  if (course === 'mailing') return perDay * Math.max(0.015, 0.45 ** daysSince)
  if (course === 'campaign') return perDay * week * Math.min(1.6, 0.4 + daysSince / 20)
  return perDay * week
}

function oneClick(
  at: number,
  link_seq: number,
  visitor: number,
  demo: DemoLink,
  random: () => number,
): Click {
  const { fields, labels = [] } = demo
  if (random() < BOT_SHARE) {
    return someClick({ at, link_seq, flags: CLICK_FLAGS.bot, country: 'US', browser: 'Googlebot' })
  }
  const country = pick(random, COUNTRIES)
  const [device, os, browser] = pick(random, DEVICES)
  const isPrint = fields.tags?.includes('print') ?? false
  const isMail = fields.utm_medium === 'email'
  const referrer = isPrint || isMail ? '' : pick(random, REFERRERS)
  const source = isPrint && random() < 0.7 ? 'qr' : 'direct'
  return someClick({
    at,
    link_seq,
    visitor,
    country,
    device,
    os,
    browser,
    language: LANGUAGES[country] ?? 'en',
    referrer,
    source,
    // By the visitor, who keeps them for the day.
    label: labels[Math.floor(Math.log2(1 + (visitor % 15)))] ?? '',
    ...(source === 'qr' && device === 'mobile' && split(demo, country, visitor)),
  })
}

/** The variant of a link whose first rule is a split for some countries. */
function split({ rules = [] }: DemoLink, country: string, visitor: number): Partial<Click> {
  const [{ id = '', when, then } = {}] = rules as Partial<RuleInput>[]
  const [first, second] = then?.split ?? []
  if (first === undefined || !when?.country?.includes(country)) return {}
  return { rule: id, variant: (visitor % 100 < first.weight ? first : second)?.name ?? '' }
}
