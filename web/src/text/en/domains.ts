import { amountsIn, plural } from '../plural.ts'

const { n } = amountsIn('en')

/** What the advice about a difference names. */
export type AdviceFacts = {
  readonly host: string
  /** Where the host leads now: addresses, or an alias. */
  readonly found: string
}

const ABOVE = 'the record above'

/** Words of the page of domains. */
export const domains = {
  title: 'Domains',
  all: 'All domains',
  add: 'Add domain',
  addTitle: 'Add a domain',
  host: 'Host name',
  hostOfUrl: (host: string) => `Adds ${host}: a domain is the host alone.`,
  hostHint: 'A subdomain such as go.example.com, or a domain of its own.',
  added: (host: string) => `${host} is added. Set its DNS records next.`,
  detailsOf: (host: string) => `Details of ${host}`,
  actionsFor: (host: string) => `Actions for ${host}`,
  states: {
    active: 'Active',
    pending: 'Pending',
    missing: 'Proof missing',
    elsewhere: 'Claimed elsewhere',
  },
  certificateUntil: (day: string) => `Certificate until ${day}`,
  noCertificate: 'No certificate yet',
  inUseElsewhere: 'Active in another workspace',
  showLinks: 'Show links',
  default: 'Default',
  makeDefault: 'Start new links here',
  endDefault: 'Do not start new links here',
  defaultChosen: (host: string) => `New links start on ${host}.`,
  defaultEnded: 'New links start on the domain that each person used last.',
  emptyTitle: 'Use a domain of your own',
  emptyHint: 'Short links on it carry your name. You set two DNS records; the rest happens here.',
  steps: {
    label: (host: string) => `Progress of ${host}`,
    ownership: 'Ownership',
    routing: 'Routing',
    active: 'Active',
    certificate: 'Certificate',
    proved: 'Proved',
    notRequired: 'Not required',
    waiting: 'Waiting for the record',
    elsewhere: 'Points elsewhere',
    soon: 'Follows within a minute',
    requested: 'Being requested',
  },
  records: (host: string) => `DNS records of ${host}`,
  record: { state: 'State', type: 'Type', name: 'Name', value: 'Value' },
  found: 'Found',
  missing: 'Missing',
  wrong: 'Wrong',
  unknown: 'Not known',
  alternative: 'Alternative',
  copyValue: (value: string) => `Copy ${value}`,
  noRecords: 'This domain needs no DNS records.',
  advice: {
    txt_missing: () => `Add ${ABOVE} at your DNS provider.`,
    txt_different: () =>
      `The TXT record with this name belongs to another workspace or another domain. Add ${ABOVE} beside it.`,
    txt_aliased: () =>
      `This name is an alias (CNAME), perhaps by a wildcard record, and an alias proves nothing. Replace it by ${ABOVE}.`,
    txt_unknown: () =>
      'The DNS server did not answer. The look-up is repeated, and nothing changes until then.',
    host_missing: ({ host }: AdviceFacts) => `${host} does not exist in DNS yet. Add ${ABOVE}.`,
    host_without_address: ({ host }: AdviceFacts) => `${host} has no address. Add ${ABOVE}.`,
    host_dangling: ({ host, found }: AdviceFacts) =>
      `${host} leads to ${found}, which has no address. If that is the value above, the operator of this service must mend it; otherwise replace it by ${ABOVE}.`,
    host_looping: ({ host }: AdviceFacts) =>
      `${host} is an alias that leads back to itself. Replace it by ${ABOVE}.`,
    host_too_many_aliases: ({ host }: AdviceFacts) =>
      `${host} leads through too many aliases. Replace it by ${ABOVE}.`,
    host_proxied: ({ host }: AdviceFacts) =>
      `${host} is behind a proxy, so DNS does not show whether it leads to this service. Switch the proxy off for this name (“DNS only”), and set ${ABOVE}.`,
    host_elsewhere: ({ host, found }: AdviceFacts) =>
      `${host} leads to ${found}, which is not this service. Delete that record, then add ${ABOVE}.`,
    host_unknown: ({ host }: AdviceFacts) =>
      `The addresses of ${host} could not be looked up. The look-up is repeated, and nothing changes until then.`,
    stray_address: ({ host, found }: AdviceFacts) =>
      `${host} leads to ${found}. Not all of these are this service, so some visitors are lost: delete the A and AAAA records that do not belong here.`,
    service_unknown: () =>
      'The addresses of this service itself are not known. If this stays, the operator must set TERSE_BASE_URL, TERSE_DNS_TARGET or TERSE_PUBLIC_ADDRESSES.',
    active_elsewhere: ({ host }: AdviceFacts) =>
      `${host} is in use by another workspace, whose TXT record still exists. Remove that record to move the domain to this workspace.`,
  },
  lost: (since: string, until: string) =>
    `The proof has been missing since ${since}. Links go on redirecting. On ${until} the domain becomes pending and they stop.`,
  lostNow: 'The proof is missing. Links go on redirecting for seven days.',
  certificateProblem: (problem: string) => `No new certificate: ${problem}`,
  nextAttempt: (when: string) => `Next attempt ${when}.`,
  check: 'Check now',
  checkedLately: (seconds: number) =>
    `Checked less than a minute ago. Try again in ${n(seconds)} ${plural('en', seconds, { one: 'second', other: 'seconds' })}.`,
  nextCheck: (when: string) => `Next check ${when}`,
  noNextCheck: 'Checked only when you ask',
  lastCheck: (when: string) => `Last checked ${when}`,
  activated: (host: string) => `${host} is active`,
  copyInstructions: 'Copy instructions for a colleague',
  instructions: (host: string) =>
    `Please set these DNS records, so that ${host} can be used for short links:`,
  settings: 'Redirects and HTTPS',
  notFoundUrl: 'Root and unknown keys go to',
  notFoundHint: 'A page “not found” when left empty',
  expiredUrl: 'Expired links go to',
  expiredHint: 'A page “expired” when left empty; a link’s own address comes first',
  hsts: 'HTTPS only (HSTS)',
  hstsHint: 'For so long after each visit, browsers refuse plain HTTP for this domain.',
  hstsChoices: {
    off: 'Off',
    '0': 'End it in browsers',
    '300': '5 minutes',
    '86400': '1 day',
    '2592000': '30 days',
    '31536000': '1 year',
    '63072000': '2 years',
  },
  hstsOther: (seconds: number) => `${n(seconds)} seconds`,
  more: {
    title: 'Settings',
    summary: 'root, search engines, UTM, rule set, conversions, apps',
    root: 'The bare domain leads to',
    rootHint: 'Left empty, where unknown keys lead.',
    robots: 'Search engines',
    robotsHint: 'What /robots.txt and the header X-Robots-Tag ask of them.',
    robotsChoices: {
      none: 'As usual: follow links, list none',
      noindex: 'Follow links, list none, by /robots.txt too',
      index: 'May list links',
      disallow: 'Stay away; previews of many networks do too',
    },
    ruleSet: 'Default rule set',
    ruleSetHint: 'Tried last, after the rules and the rule set of each link.',
    trackHint: 'A token in destinations, with which your server reports orders or sign-ups.',
    trackings: { '': 'As the workspace has it', on: 'On', off: 'Off' },
    utm: 'Default UTM values',
    utmHint: 'For links and destinations that have none of their own.',
    apple: 'iPhone, iPad and Mac apps',
    appleHint: 'JSON, served at /.well-known/apple-app-site-association',
    android: 'Android apps',
    androidHint: 'JSON, served at /.well-known/assetlinks.json',
    badJson: (where: string) => `This is no JSON: ${where}`,
    faultAt: (path: string, fault: string) => `${path}: ${fault}.`,
  },
  saved: (host: string) => `${host} is changed`,
  remove: 'Remove domain',
  removeTitle: (host: string) => `Remove ${host}?`,
  removeText: (links: number) =>
    `${links === 0 ? 'It has no links.' : `Its ${n(links)} ${plural('en', links, { one: 'link stops', other: 'links stop' })} redirecting at once.`} Links stay in the list, and work again when the domain is added and proved again.`,
  busiest: 'Busiest link',
  removed: (host: string) => `${host} is removed`,
}
