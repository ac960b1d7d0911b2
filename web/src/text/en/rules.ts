/** Values of a sentence stand between these: what isolates a text of another direction, and is shown in bold. */
export const VALUE_START = '\u2068'
export const VALUE_END = '\u2069'

type Span = {
  readonly from?: string
  readonly until?: string
  readonly days?: string
  readonly hours?: { readonly from: string; readonly until: string }
  readonly zone?: string
}

/** Words of the rules of a link. They are loaded with what shows rules. */
export const rules = {
  title: 'Rules',
  intro: 'The first that matches decides.',
  list: 'Rules, first match first',
  add: 'Rule',
  handle: (place: number) => `Move rule ${place}`,
  handleHint: 'Drag, or Alt + ↑ ↓',
  actions: (place: number) => `Actions for rule ${place}`,
  done: 'Done',
  duplicate: 'Duplicate',
  moves: 'Move the rule',
  moveUp: 'Move up',
  moveDown: 'Move down',
  remove: 'Remove',
  removed: 'Rule removed.',
  moved: (place: number, of: number) => `Now rule ${place} of ${of}.`,
  name: 'Name, for you',
  everyoneElse: 'Everyone else',
  empty: 'Everybody goes to the destination. A rule sends some visitors elsewhere.',
  starters: { country: 'By country', device: 'By device', split: 'Split in two' },
  saved: 'Rules saved',
  examplesChanged: 'This changes where examples of the link lead:',
  saveAnyway: 'Save anyway',
  explain: {
    title: 'What a visitor gets',
    unknown: 'Unknown',
    incomplete: 'Complete the rules to see where they lead.',
    agents: {
      iphone: 'iPhone',
      ipad: 'iPad',
      android: 'Android phone',
      windows: 'Windows',
      mac: 'Mac',
      bot: 'Search engine',
    },
    rule: (place: number) => `Rule ${place}`,
    decided: (variant: string | null) =>
      variant === null ? 'decides.' : `decides, with variant ${variant}.`,
    notTried: 'is not tried.',
    failed: (path: string, found: string) =>
      `does not match: ${path.replace('when.', '')} is ${found || 'unknown'}.`,
    page: (kind: string) => `They get a page (${kind}).`,
    counts: {
      click: 'Counts as a click.',
      bot: 'Counts as a visit of a bot.',
      nothing: 'Does not count.',
    },
    changed: (names: readonly string[]) => `Other than expected: ${names.join(', ')}`,
  },
  /** `conditions` are sentences of their own, all of which must hold. */
  when: (conditions: readonly string[]) => `If ${conditions.join(', and ')}`,
  everyone: 'Everyone',
  groups: (groups: readonly (readonly string[])[]) =>
    `one of these holds: ${groups.map((group) => group.join(' and ')).join('; or ')}`,
  says: {
    country: {
      is: (values: string) => `the country is ${values}`,
      not: (values: string) => `the country is not ${values}`,
    },
    region: {
      is: (values: string) => `the region is ${values}`,
      not: (values: string) => `the region is not ${values}`,
    },
    city: {
      is: (values: string) => `the city is ${values}`,
      not: (values: string) => `the city is not ${values}`,
    },
    device: {
      is: (values: string) => `the device is a ${values}`,
      not: (values: string) => `the device is no ${values}`,
    },
    os: {
      is: (values: string) => `the system is ${values}`,
      not: (values: string) => `the system is not ${values}`,
    },
    browser: {
      is: (values: string) => `the browser is ${values}`,
      not: (values: string) => `the browser is not ${values}`,
    },
    language: {
      is: (values: string) => `the language is ${values}`,
      not: (values: string) => `the language is not ${values}`,
    },
    query: {
      is: (values: string) => values,
      not: (values: string) => `it is not so that ${values}`,
    },
    referrer: {
      is: (values: string) => `they come from ${values}`,
      not: (values: string) => `they do not come from ${values}`,
    },
    address: {
      is: (values: string) => `the address is in ${values}`,
      not: (values: string) => `the address is not in ${values}`,
    },
    time: {
      is: (values: string) => `it is ${values}`,
      not: (values: string) => `it is not ${values}`,
    },
    label: {
      is: (values: string) => `the label is ${values}`,
      not: (values: string) => `the label is not ${values}`,
    },
    qr: { is: () => 'they scanned a QR code', not: () => 'they scanned no QR code' },
    bot: { is: () => 'it is a bot', not: () => 'it is no bot' },
  },
  tests: {
    equals: (name: string, value: string) => `parameter ${name} is ${value}`,
    contains: (name: string, value: string) => `parameter ${name} contains ${value}`,
    present: (name: string) => `there is a parameter ${name}`,
    absent: (name: string) => `there is no parameter ${name}`,
  },
  span: ({ from, until, days, hours, zone }: Span) =>
    [
      from && `from ${from}`,
      until && `before ${until}`,
      days && `on ${days}`,
      hours && `between ${hours.from} and ${hours.until}`,
      zone && `(${zone})`,
    ]
      .filter(Boolean)
      .join(' '),
  noReferrer: 'no page',
  splits: (parts: string) => `split: ${parts}`,
  variantShare: (name: string, share: string) => `${name} ${share}`,
  condition: 'Condition',
  conditionGroups: { who: 'Who', how: 'How they came', when: 'When', other: 'Other' },
  kinds: {
    country: 'Country',
    region: 'Region',
    city: 'City',
    device: 'Device',
    os: 'System',
    browser: 'Browser',
    language: 'Language',
    query: 'Query',
    referrer: 'Referrer',
    address: 'Address',
    time: 'Time',
    label: 'Label',
    qr: 'QR code',
    bot: 'Bot',
  },
  examples: {
    country: 'Japan, EU, Asia',
    region: 'US-CA, Bavaria',
    city: 'Berlin, San Diego',
    device: 'phone, tablet',
    os: 'iOS, Windows',
    browser: 'Firefox',
    language: 'French',
    query: '?ref=',
    referrer: 'heise.de',
    address: '192.0.2.0/24',
    time: 'from, until, Mon–Fri',
    label: '?via=',
    qr: 'scanned',
    bot: 'search, preview',
  },
  removeCondition: (condition: string) => `Remove condition: ${condition}`,
  anyOf: 'One of several groups',
  is: 'is',
  isNot: 'is not',
  isNotKind: (kind: string) => `${kind} is not`,
  yes: 'yes',
  no: 'no',
  nothingChosen: '…',
  find: 'Find or type',
  addTyped: (text: string) => `Add “${text}”`,
  addAnother: 'Add another',
  removeLine: 'Remove this line',
  parameter: 'Parameter',
  test: 'Test',
  testNames: { equals: 'is', contains: 'contains', present: 'is there', absent: 'is missing' },
  value: 'Value',
  from: 'From',
  until: 'Before',
  weekdays: 'Days',
  hoursFrom: 'From hour',
  hoursUntil: 'To hour',
  zone: 'Time zone',
  then: 'Then',
  onePage: 'One page',
  split: 'Split',
  destination: (place: number) => `Destination of rule ${place}`,
  weights: 'Weights',
  between: (left: string, right: string) => `Between ${left} and ${right}`,
  variantName: (letter: string) => `Name of variant ${letter}`,
  variantUrl: (letter: string) => `Destination of variant ${letter}`,
  variantWeight: (letter: string) => `Weight of variant ${letter}`,
  removeVariant: (letter: string) => `Remove variant ${letter}`,
  variant: 'Variant',
  evenOut: 'Even out',
  remember: 'Same visitor, same page for',
  rememberDays: (days: number) => (days === 1 ? 'a day' : `${days} days (cookie)`),
  end: 'End the split',
  endAt: 'The split ends',
  endWith: 'Then everybody gets',
  noEnd: 'No end',
  devices: {
    phone: 'phone',
    tablet: 'tablet',
    desktop: 'desktop',
    tv: 'TV',
    console: 'console',
  },
  sets: {
    africa: 'Africa',
    antarctica: 'Antarctica',
    asia: 'Asia',
    europe: 'Europe',
    'north-america': 'North America',
    oceania: 'Oceania',
    'south-america': 'South America',
    EU: 'the EU',
    EEA: 'the EEA',
  },
}

export type RuleWords = typeof rules
