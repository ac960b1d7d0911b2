import { APPLE_EXAMPLE, ASSET_LINKS_EXAMPLE } from '@terse/contract/app-documents'
import { csvLine } from '@terse/contract/csv'
import { fromFields, UTM_FIELDS } from '@terse/contract/link-fields'

const NO_UTM = fromFields(UTM_FIELDS, () => null)
const RULE_SET = '01a1f890-2f3e-7d4c-9b5a-6978f8e7d6c5'

const PREVIEW = {
  title: 'Spring sale',
  description: 'Everything for the garden, until the end of May.',
  image:
    'https://go.example.com/assets/images/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08-1200x630.jpg',
}

const RULE = {
  id: 'b7d41f09ce',
  name: 'Phones in Germany and Austria',
  when: { country: ['DE', 'AT'], device: ['phone'] },
  then: { url: 'https://example.com/de/app' },
}

const OPTIONS = {
  max_clicks: 500,
  active_from: '2026-12-01T08:00:00.000000Z',
  archived: false,
  notes: 'On the flyer of May',
  path: 'none',
  query: 'merge',
  rule_set: RULE_SET,
  ...PREVIEW,
  track_conversions: null,
  managed_by: 'flyers',
  managed_at: '2026-11-21T08:15:02.190512Z',
  prevent_delete: false,
  clicks_left: 120,
}

const SHOPS = {
  id: RULE_SET,
  workspace_id: '01a1f86c-3f0a-7c21-9b1e-5d0c8a4f7e11',
  name: 'Shops by country',
  rules: [{ ...RULE, id: 'set-8f2ac01d94b7e6530a1c' }],
  managed_by: null,
  managed_at: null,
  created_at: '2026-11-20T10:06:50.363298Z',
  updated_at: '2026-11-21T08:15:02.190512Z',
}

const CONVERSION = {
  ...{ id: '01a2089c-7d10-7a3b-8c4d-0e1f2a3b4c5d', event: 'order', value: 7_490, currency: 'EUR' },
  occurred_at: '2026-11-28T10:15:00.120000Z',
  recorded_at: '2026-11-28T10:15:00.120000Z',
  clicked_at: '2026-11-28T10:02:41.375000Z',
  link_id: '01a1f86d-9b3c-7e45-a1d2-3f4e5d6c7b8a',
  ...{ domain: 'go.example.com', key: 'sale', country: 'DE' },
  ...{ rule: null, variant: null, label: 'newsletter' },
}
const EUROS = {
  ...{ currency: 'EUR', conversions: 2, value: 12_480, refunds: 1, refunded: -2_500 },
}
const ORDERS = { conversions: 2, refunds: 1, values: [EUROS], visits: 2 }

const CONVERSION_REPORT = {
  ...{ from: '2026-11-01T00:00:00.000000Z', to: '2026-12-01T00:00:00.000000Z' },
  ...{ timezone: 'UTC', interval: null, group_by: 'event', total: ORDERS, points: null },
  groups: [{ value: 'order', ...ORDERS }],
  rest: { values_left: 0, conversions: 0, refunds: 0, values: [], visits: 0 },
}

/** By operation and type. */
export const CONVERSION_EXPORT = {
  'conversions.export': {
    'text/csv':
      csvLine(['id', 'event', 'value', 'currency']) +
      csvLine([CONVERSION.id, 'order', CONVERSION.value, 'EUR']),
  },
}

/** What `include=options` adds to a link. */
export const INCLUDED_EXAMPLE = { options: OPTIONS, rule_count: 1, split_count: 0 }

/** Examples of what a link has beside its fields, by the names of their schemas. */
export const SMART_LINK_EXAMPLES: Readonly<Record<string, unknown>> = {
  LinkOptions: OPTIONS,
  Image: { url: PREVIEW.image, type: 'image/jpeg', width: 1200, height: 630, bytes: 84_312 },
  Preview: PREVIEW,
  DomainSettings: {
    domain: 'go.example.com',
    root_url: 'https://example.com/',
    robots: 'noindex',
    utm: { ...NO_UTM, utm_source: 'short-link' },
    rule_set: RULE_SET,
    track_conversions: true,
    apple_app_site_association: APPLE_EXAMPLE,
    assetlinks: ASSET_LINKS_EXAMPLE,
    managed_by: null,
    managed_at: null,
    updated_at: '2026-11-21T08:15:02.190512Z',
  },
  LinkChange: {
    sequence: 1_204,
    at: '2026-11-21T08:15:02.190512Z',
    actor: { kind: 'person', id: '01a1f86a-1b2c-7d3e-8f40-a1b2c3d4e5f6', name: 'Ada Lovelace' },
    type: 'link.updated',
    before: { url: 'https://example.com/' },
    after: { url: 'https://example.com/sale' },
  },
  LinkRules: { rules: [RULE] },
  Conversion: CONVERSION,
  ReportedConversions: CONVERSION,
  Conversions: CONVERSION_REPORT,
  ConversionResults: {
    ...{ recorded: 1, repeated: 0, failed: 0 },
    results: [{ index: 0, status: 'recorded', conversion: CONVERSION, error: null }],
  },
  ConversionReport: CONVERSION_REPORT,
  ConversionSettings: { track_conversions: true, parameter: 'tc', window_days: 30 },
  Labels: { parameter: 'via', labels: ['newsletter', 'podcast'] },
  RuleSet: SHOPS,
  IncludingRuleSet: { ...SHOPS, used_by: { links: 12, domains: 1 } },
  LinkExamples: {
    examples: [
      {
        name: 'A phone in Japan gets the app',
        visitor: { country: 'JP', language: 'ja' },
        expected: {
          ...{ kind: 'redirect', location: 'https://example.com/app' },
          ...{ rule: RULE.id, variant: null },
        },
      },
    ],
  },
  Explanation: {
    ...{ kind: 'redirect', status: 302, location: 'https://example.com/de/app?utm_source=mail' },
    instead_of: null,
    decided_by: { by: 'rule', rule: RULE.id, name: RULE.name, variant: null, chosen_by: null },
    rules: [
      {
        ...{ id: 'c0ffee1234', name: 'Robots', of: 'link', result: 'failed' },
        failed: { path: 'when.bot', wanted: true, found: 'false' },
      },
      { id: RULE.id, name: RULE.name, of: 'link', result: 'decided', failed: null },
    ],
    url: {
      destination: 'https://example.com/de/app',
      placeholders: [],
      path: null,
      utm: [{ of: 'link', name: 'utm_source', value: 'mail', replaces: false }],
      query: [{ parameter: 'qr=1', effect: 'removed', reason: 'qr' }],
      replaced: [],
      token: null,
    },
    counted: { as: 'click', flags: [] },
    visitor: {
      ...{
        at: '2026-11-22T18:40:00.000000Z',
        country: 'DE',
        region: null,
        city: null,
        device: 'phone',
        os: ['ios'],
        browser: 'safari',
        bot: false,
      },
      ...{ language: 'de', referrer: null, label: null, qr: true },
    },
    ...{ unknown: [], recorded: null, domain_works: true, examples: [] },
  },
  VariantComparison: {
    from: '2026-11-01T00:00:00.000000Z',
    to: '2026-11-22T00:00:00.000000Z',
    counted_until: null,
    data: [
      {
        ...{ rule: 'ab', name: 'Two pages', rule_set: null, visitors: 2_000, probability: 0.37 },
        ...{ verdict: 'as_weighted', text: 'The visitors are divided as the weights say.' },
        variants: [
          {
            ...{ name: 'A', weight: 1, visitors: 980, share: 0.49, expected_share: 0.5 },
            ...{ conversions: 31, rate: { value: 3.2, low: 2.2, high: 4.5 } },
            ...{ more: null, verdict: 'base', text: 'A is what the others are compared with.' },
          },
          {
            ...{ name: 'B', weight: 1, visitors: 1_020, share: 0.51, expected_share: 0.5 },
            ...{ conversions: 2, rate: null },
            ...{ more: { low: -4.7, high: 13.6 }, verdict: 'no_difference' },
            text: 'B: not enough data to say whether it differs from A.',
          },
        ],
      },
    ],
  },
}
