import type { ExampleInput } from '@terse/contract/explain'
import type { RuleInput } from '@terse/contract/rules'

/** A link of the demo, and how its clicks come about. */
export type DemoLink = {
  readonly fields: {
    readonly domain: string
    readonly key: string
    readonly url: string
    readonly tags?: readonly string[]
    readonly utm_source?: string
    readonly utm_medium?: string
    readonly utm_campaign?: string
    readonly ios?: string
    readonly android?: string
    readonly password?: string
    readonly expires_at?: string
  }
  readonly rules?: readonly RuleInput[]
  readonly options?: {
    readonly max_clicks?: number
    readonly notes?: string
    readonly path?: 'append'
    readonly title?: string
    readonly description?: string
  }
  /** The name of its rule set. */
  readonly ruleSet?: string
  readonly examples?: readonly ExampleInput[]
  /** Labels of its clicks, the most frequent first. */
  readonly labels?: readonly string[]
  /** How many days before the present it was made. */
  readonly daysAgo: number
  /** Clicks on a usual day. */
  readonly perDay: number
  /** A mailing has most clicks in its first days; a campaign grows; a steady link follows the week. */
  readonly course: 'mailing' | 'campaign' | 'steady'
}

export const DEMO_DOMAINS = ['go.acme.localhost', 'acme.localhost'] as const
/** Waits for its DNS records. */
export const PENDING_DOMAIN = 'links.acme.example'

const [GO, ACME] = DEMO_DOMAINS
const SHOP = 'https://www.example.com'
const PHONE =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36'
const IPAD =
  'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

/** @param nowMs the present of the demo */
export function demoLinks(nowMs: number): readonly DemoLink[] {
  const inDays = (days: number) => new Date(nowMs + days * 86_400_000).toISOString()
  return [
    ...campaigns(),
    ...mailings(),
    ...pages(),
    {
      fields: {
        domain: GO,
        key: 'black-friday',
        url: `${SHOP}/sale/black-friday?ref=teaser`,
        tags: ['campaign', 'autumn'],
        utm_source: 'teaser',
        utm_medium: 'social',
        utm_campaign: 'black-friday',
        expires_at: inDays(9),
      },
      options: {
        max_clicks: 1_500,
        title: 'Black Friday: a third off everything',
        description: 'Until Monday, online and in all our stores.',
        notes: 'On the posters in Berlin and Vienna. The limit is what the warehouse can send.',
      },
      labels: ['newsletter', 'instagram', 'podcast'],
      daysAgo: 12,
      perDay: 64,
      course: 'campaign',
    },
    {
      fields: {
        domain: ACME,
        key: 'press-kit',
        url: `${SHOP}/press/kit-2026.zip`,
        tags: ['press'],
        password: 'demo',
      },
      daysAgo: 70,
      perDay: 3,
      course: 'steady',
    },
    {
      fields: {
        domain: ACME,
        key: 'app',
        url: `${SHOP}/app`,
        tags: ['product', 'print'],
        ios: 'https://apps.apple.com/app/example',
        android: 'https://play.google.com/store/apps/details?id=com.example',
      },
      rules: appRules(),
      ruleSet: 'German shop',
      examples: [
        {
          name: 'A German phone gets the German page',
          visitor: { country: 'DE', agent: PHONE, language: 'de' },
        },
        { name: 'An iPad gets the App Store', visitor: { agent: IPAD, language: 'en' } },
      ],
      daysAgo: 88,
      perDay: 42,
      course: 'steady',
    },
    {
      fields: {
        domain: GO,
        key: 'summer-sale',
        url: `${SHOP}/sale/summer`,
        tags: ['campaign', 'summer'],
        expires_at: inDays(-30),
      },
      daysAgo: 89,
      perDay: 20,
      course: 'mailing',
    },
  ]
}

function campaigns(): readonly DemoLink[] {
  const sources = [
    ['instagram', 'social', 48],
    ['linkedin', 'social', 21],
    ['poster', 'print', 14],
    ['partner', 'referral', 9],
  ] as const
  return sources.map(([source, medium, perDay]) => ({
    fields: {
      domain: GO,
      key: `autumn-${source}`,
      url: `${SHOP}/shop/collections/autumn-2026`,
      tags: ['campaign', 'autumn', ...(medium === 'print' ? ['print'] : [])],
      utm_source: source,
      utm_medium: medium,
      utm_campaign: 'autumn-2026',
    },
    daysAgo: 40,
    perDay,
    course: 'campaign' as const,
  }))
}

function mailings(): readonly DemoLink[] {
  const titles = [
    'moving-to-two-warehouses',
    'how-we-test-fabric',
    'a-visit-to-the-dye-works',
    'repair-instead-of-return',
    'the-autumn-collection',
    'behind-the-counter',
  ]
  return titles.map((title, nth) => ({
    fields: {
      domain: GO,
      key: `newsletter-${42 + nth}`,
      url: `${SHOP}/blog/2026/${title}`,
      tags: ['newsletter'],
      utm_source: 'newsletter',
      utm_medium: 'email',
      utm_campaign: `issue-${42 + nth}`,
    },
    daysAgo: 78 - nth * 14,
    perDay: 90 + nth * 12,
    course: 'mailing' as const,
  }))
}

function pages(): readonly DemoLink[] {
  const entries = [
    ['docs', '/docs/getting-started', ['product'], 26],
    ['pricing', '/pricing', ['product'], 18],
    ['jobs', '/careers', ['people'], 11],
    ['support', '/help/contact', ['support'], 15],
    ['returns', '/help/returns', ['support', 'print'], 12],
    ['size-guide', '/help/sizes', ['support'], 8],
    ['store-berlin', '/stores/berlin', ['stores', 'print'], 9],
    ['store-vienna', '/stores/vienna', ['stores', 'print'], 6],
    ['store-zurich', '/stores/zurich', ['stores'], 5],
    ['gift-card', '/shop/gift-cards', ['product'], 7],
    ['podcast', '/podcast', ['press'], 4],
    ['imprint', '/imprint', [], 1],
    ['webinar', '/events/webinar-supply-chains', ['people', 'press'], 3],
    ['feedback', '/feedback?from=receipt', ['support', 'print'], 10],
  ] as const
  return entries.map(([key, path, tags, perDay], nth) => ({
    fields: { domain: nth % 3 === 0 ? GO : ACME, key, url: `${SHOP}${path}`, tags },
    ...(key === 'docs' && { options: { path: 'append' as const } }),
    ...(key === 'podcast' && { labels: ['podcast', 'newsletter'], ruleSet: 'App stores' }),
    daysAgo: 89 - nth * 4,
    perDay,
    course: 'steady' as const,
  }))
}

function appRules(): readonly RuleInput[] {
  return [
    {
      id: 'poster',
      name: 'Poster',
      when: { country: ['DE', 'AT'], device: ['phone'], qr: true },
      then: {
        split: [
          { name: 'Shop', url: `${SHOP}/app/shop`, weight: 60 },
          { name: 'Quiz', url: `${SHOP}/app/quiz`, weight: 40 },
        ],
      },
    },
    { when: { language: ['de'] }, then: { url: `${SHOP}/de/app` } },
    {
      name: 'Support',
      when: {
        referrer: ['support.example.com'],
        time: [
          {
            weekdays: ['mon', 'tue', 'wed', 'thu', 'fri'],
            hours: { from: '09:00', until: '17:00' },
            zone: 'Europe/Berlin',
          },
        ],
      },
      then: { url: `${SHOP}/support/chat` },
    },
  ]
}
