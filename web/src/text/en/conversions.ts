import { amountsIn } from '../plural.ts'

const { count, n } = amountsIn('en')

const clicks = count('click', 'clicks')

/** Words of the page of conversions and of their settings. */
export const conversions = {
  title: 'Conversions',
  /** Above a column of numbers. */
  short: 'Count',
  views: 'Views',
  rate: 'Rate',
  value: 'Value',
  refunds: 'Refunds',
  otherCurrencies: 'In other currencies',
  tooFew: 'too few to say',
  tooFewOf: (amount: number) => `too few to say: ${clicks(amount)}`,
  range: (low: string, high: string) => `${low} to ${high}`,
  ofClicks: (amount: number) => `of ${clicks(amount)}`,
  unit: 'Show',
  count: 'Count',
  by: 'Conversions by',
  dimensions: { event: 'Events', currency: 'Currencies' },
  dimension: { event: 'Event', currency: 'Currency' },
  noneInPeriod: 'No conversions in this period',
  noneInPeriodHint: 'Choose another period or fewer filters.',
  showMore: (amount: number) => `${n(amount)} more`,
  showOlder: 'Show older ones',
  last: 'Last conversions',
  downloadAll: 'All as CSV',
  link: 'Link',
  visit: 'Visit',
  when: 'When',
  openPage: 'Open conversions',
  note: 'Values are net of refunds, and currencies are never converted. A rate is the share of clicks that led to a conversion, with the range in which the true one is in 95 % of cases. Nothing about the buyer is stored, only what your server sends.',
  setUp: {
    title: 'See which link brought the order',
    hint: 'Your server reports an order or a sign-up. Terse shows which link, rule and label it came from.',
    token: 'Add a token to destinations',
    allLinks: 'All links',
    someLinks: 'Chosen links',
    someHint: 'Switch it on in the settings of a domain, or in the form of a link.',
    openDomains: 'Open domains',
    arrives: 'The token names the visit, not the visitor. Visitors arrive with',
    code: 'Paste ten lines into your shop',
    language: 'Language',
    arrival: 'When a visitor arrives, keep the token with their session',
    payment: 'After the payment, from your server',
    copy: 'Copy code',
    scope: 'The API token needs the scope',
    makeToken: 'Create one',
    test: 'Make a test order',
    testHint: 'Open a link that adds the token, and order as a visitor would.',
    waiting: 'Waiting for the first conversion. This page shows it within seconds.',
    done: 'Done:',
    consent:
      'Whether you need a visitor’s consent is a question for your site: the token is part of the address, Terse sets no cookie for it.',
  },
  settings: {
    hint: 'Which orders and sign-ups your links bring.',
    track: 'Add a token to the destinations of all links',
    trackHint: 'A domain and a link can have a setting of their own.',
    parameter: 'Parameter',
    parameterHint: (name: string) => `Visitors arrive at …/?${name}=…`,
    window: 'Window in days',
    windowHint: 'How long after a visit its token is accepted: 1 to 400 days.',
  },
}
