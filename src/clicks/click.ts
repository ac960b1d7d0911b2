/**
 * A visit that was redirected to a link's destination, or several capped ones. It contains neither the
 * visitor's address nor the full user agent, so that neither is ever stored.
 */
export type Click = {
  /** Microseconds since the epoch. */
  readonly at: number
  readonly link_seq: number
  /** A sum of `CLICK_FLAGS`: why this is not a person's click. 0 for a person's click. */
  readonly flags: number
  /** The number of visits: 1, or more if `flags` is `CLICK_FLAGS.capped`, or if another service counted them. */
  readonly count: number
  /** Identifies a visitor within one UTC day only; a safe integer, `UNKNOWN_VISITOR` if unknown. */
  readonly visitor: number
  /** ISO 3166-1 alpha-2, as in `DE`; '' if unknown. */
  readonly country: string
  /** `desktop`, `mobile`, `tablet`, `tv`, …; '' if unknown. */
  readonly device: string
  /** Such as `iOS` or `Windows`; '' if unknown. */
  readonly os: string
  /** Such as `Safari` or `Chrome`; '' if unknown. */
  readonly browser: string
  /** The host of the referring page, in lower case; '' if none. */
  readonly referrer: string
  /** The primary subtag of the visitor's preferred language, such as `de`; '' if none. */
  readonly language: string
  /** `qr` for a visit through a tracked QR code, otherwise `direct`. */
  readonly source: string
  /** The id of the link's rule that matched; '' if none did. */
  readonly rule: string
  /** The name of the variant of that rule's split; '' if it has none. */
  readonly variant: string
  /** What the visitor's query has in the workspace's parameter for labels; '' if nothing. */
  readonly label: string
  /** As in `Place`. */
  readonly region: string
  /** As in `Place`. */
  readonly city: string
  /** Whether it took one of the clicks that the link's `max_clicks` allows (limits/click-limits.ts); false if left out. */
  readonly isLimited?: boolean
}

/** The visitor of a click that another service has only counted. No hash of a visitor is 0 in practice. */
export const UNKNOWN_VISITOR = 0

/** What is known of the visitor. Values are ASCII, at most 253 characters long. */
export const VISITOR_DIMENSIONS = [
  'country',
  'device',
  'os',
  'browser',
  'referrer',
  'language',
  'source',
] as const satisfies readonly (keyof Click)[]

/** How the link's rules decided. */
const RULE_DIMENSIONS = ['rule', 'variant'] as const satisfies readonly (keyof Click)[]

/** Where the visitor was, as far as the operator's database knows. */
const PLACE_DIMENSIONS = ['region', 'city'] as const satisfies readonly (keyof Click)[]

/**
 * What most clicks do not have, so that the value '' takes no space. Values are at most 253 bytes of UTF-8, where letter
 * case matters.
 */
export const SPARSE_DIMENSIONS = [
  ...RULE_DIMENSIONS,
  'label',
  ...PLACE_DIMENSIONS,
] as const satisfies readonly (keyof Click)[]

/** The dimensions for grouping and filtering clicks. */
export const CLICK_DIMENSIONS = [...VISITOR_DIMENSIONS, ...SPARSE_DIMENSIONS] as const

/** How many of `CLICK_DIMENSIONS`, from the first on, a click without a label and a place may have a value in. */
export const UNLABELLED_COUNT = VISITOR_DIMENSIONS.length + RULE_DIMENSIONS.length

/** Where the label is among them. */
export const LABEL_INDEX = CLICK_DIMENSIONS.indexOf('label')

/** The same for a click without a place. */
export const UNPLACED_COUNT = CLICK_DIMENSIONS.length - PLACE_DIMENSIONS.length

export type ClickDimension = (typeof CLICK_DIMENSIONS)[number]

/** What the rules of a link decided for a click. */
export type RuleValues = Pick<Click, (typeof RULE_DIMENSIONS)[number]>

/** No rule matched, or the link has none. */
export const NO_RULE: RuleValues = { rule: '', variant: '' }

/** Reasons why a visit is not counted as a person's click. */
export const CLICK_FLAGS = {
  /** The user agent is a known bot. */
  bot: 1,
  /** A browser prefetched the page. */
  prefetch: 2,
  /** A HEAD request. */
  head: 4,
  /** A request without a user agent. */
  noUserAgent: 8,
  /**
   * Over the limit of clicks per address, link and minute. A capped click has no other flag, no visitor
   * and no dimension values: only its count is stored.
   */
  capped: 16,
} as const

/** @param count the number of capped clicks on the link in the minute of `at` */
export function cappedClick(link_seq: number, at: number, count: number): Click {
  return { ...countedClick(link_seq, at, count), flags: CLICK_FLAGS.capped }
}

/** People's clicks of which only the number is known. */
export function countedClick(link_seq: number, at: number, count: number): Click {
  return {
    at,
    link_seq,
    flags: 0,
    count,
    visitor: UNKNOWN_VISITOR,
    country: '',
    device: '',
    os: '',
    browser: '',
    referrer: '',
    language: '',
    source: '',
    rule: '',
    variant: '',
    label: '',
    region: '',
    city: '',
  }
}

/** Returns the total number of visits. */
export function countVisits(clicks: readonly Click[]): number {
  return clicks.reduce((sum, { count }) => sum + count, 0)
}

/** Records clicks durably. */
export type ClickRecorder = {
  /**
   * Records a click and calls `done` once it survives a crash of the process, or with `false` when recording failed. The
   * visitor is redirected anyway, unless the link has a limit, and the loss is reported.
   */
  record(click: Click, done: (isStored: boolean) => void): void
}

/** Where an address is, as far as the database knows; '' for what is unknown. */
export type Place = {
  /** ISO 3166-1 alpha-2. */
  readonly country: string
  /** ISO 3166-2, such as `US-CA`, or its English name where the database has no code. */
  readonly region: string
  /** Its English name. */
  readonly city: string
}

export const NOWHERE: Place = Object.freeze({ country: '', region: '', city: '' })
