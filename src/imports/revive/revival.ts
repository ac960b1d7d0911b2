import { type LinkOptions, NO_OPTIONS } from '@terse/contract/link-fields'
import type { RuleInput } from '@terse/contract/rules'
import type { LinkInput, UncountedLink } from '../../links/index.ts'
import type { FieldFaults } from '../../platform/failure.ts'
import { usableRules } from '../import-candidate.ts'
import {
  listPeerOptions,
  optionNames,
  PEER_SERVICES,
  type PeerService,
} from '../sources/peer-options.ts'
import {
  dubTargeting,
  rebrandlyRuleNames,
  rebrandlyTargeting,
  shortIoTargeting,
  sinkTargeting,
} from '../targeting/peer-targeting.ts'
import {
  type RedirectRule,
  shlinkTargeting,
  withTakenDevices,
} from '../targeting/shlink-targeting.ts'
import { isRecord, type Targeting } from '../targeting/targeting.ts'

type Rest = Readonly<Record<string, unknown>>

/** What an imported link becomes of what an earlier import kept beside it. */
export type Revival = {
  /** What changes of the link; empty for nothing. */
  readonly input: LinkInput
  /** What stays beside it. */
  readonly rest: Rest
  /** For the report: what is carried over, and each condition that is not. */
  readonly notes: readonly string[]
}

/** Returns whether something that was kept may be carried over, from the names of its values alone. */
export function mayRevive(origin: string, rest: Rest): boolean {
  const service = serviceOf(origin, rest)
  if (service === undefined) return false
  const names = [RULES_LEFT, ...TARGETING_NAMES[service], ...optionNames(service)]
  return names.some((name) => Object.hasOwn(rest, name)) || rebrandlyRuleNames(rest).length > 0
}

/**
 * Carries over what the link does not have itself: nothing that its owners have set since is replaced.
 *
 * @param at.faultsOf returns what the API would refuse of the input of a link
 */
export function reviveLink(
  { origin, rest }: { readonly origin: string; readonly rest: Rest },
  link: UncountedLink,
  at: { readonly nowMs: number; readonly faultsOf: (input: LinkInput) => FieldFaults },
): Revival {
  const service = serviceOf(origin, rest)
  if (service === undefined) return { input: {}, rest, notes: [] }
  const options = optionsOf(service, rest, link, at.faultsOf)
  const rules = rulesOf(service, options.rest, link, at)
  const taken = [...rules.taken, ...Object.keys(options.input)]
  return {
    input: { ...options.input, ...rules.input },
    rest: rules.rest,
    notes: [
      ...(taken.length > 0 ? [`Carried over: ${taken.join(', ')}.`] : []),
      ...rules.notes,
      ...options.notes,
    ],
  }
}

/** Under which names each service's targeting was kept. Of Rebrandly only its form is known. */
const TARGETING_NAMES = {
  dub: ['geo', 'testVariants'],
  shlink: ['redirectRules', 'deviceLongUrls'],
  shortio: ['countries', 'regions', 'splitURL'],
  rebrandly: [],
  sink: ['geo'],
  kutt: [],
  yourls: [],
  bitly: [],
  chhoto: [],
} as const satisfies Readonly<Record<PeerService, readonly string[]>>

/** Where an import keeps rules that it made and that were refused, such as those on cities without a database of them. */
const RULES_LEFT = 'rules'

/** Returns undefined for a source whose kept values cannot be read without its file. */
function serviceOf(origin: string, rest: Rest): PeerService | undefined {
  const [name = ''] = origin.split(' ', 1)
  const [service = ''] = name.split('-', 1)
  if (name === 'terse') return exportedServiceOf(rest)
  return Object.hasOwn(TARGETING_NAMES, service) && name !== 'dub-csv'
    ? (service as PeerService)
    : undefined
}

/** An export of Terse does not say which service the kept values are of, but their names do. */
function exportedServiceOf(rest: Rest): PeerService | undefined {
  const named = PEER_SERVICES.find((service) =>
    OWN_NAMES.get(service)?.some((name) => Object.hasOwn(rest, name)),
  )
  if (named !== undefined) return named
  // Sink has it too, in the same form.
  if (Object.hasOwn(rest, 'geo')) return 'dub'
  return rebrandlyRuleNames(rest).length > 0 ? 'rebrandly' : undefined
}

const namesOf = (service: PeerService): readonly string[] => [
  ...TARGETING_NAMES[service],
  ...optionNames(service),
]

/** The names that one service alone has. */
const OWN_NAMES: ReadonlyMap<PeerService, readonly string[]> = new Map(
  PEER_SERVICES.map((service) => {
    const others = PEER_SERVICES.filter((other) => other !== service).flatMap(namesOf)
    return [service, namesOf(service).filter((name) => !others.includes(name))]
  }),
)

type OptionInput = { -readonly [O in keyof LinkOptions]?: LinkOptions[O] }

function optionsOf(
  service: PeerService,
  rest: Rest,
  link: UncountedLink,
  faultsOf: (input: LinkInput) => FieldFaults,
): { readonly input: OptionInput; readonly rest: Rest; readonly notes: readonly string[] } {
  const input: OptionInput = {}
  const left: Record<string, unknown> = { ...rest }
  const notes: string[] = []
  for (const { option, name, value } of listPeerOptions(service, rest, link.url)) {
    if (link[option] === value) {
      delete left[name]
      continue
    }
    if (link[option] !== NO_OPTIONS[option]) {
      notes.push(`${option} is set in Terse, and stays as it is.`)
      continue
    }
    const faults = Object.keys(faultsOf({ ...identityOf(link), [option]: value }))
    if (faults.some((path) => path.split('.', 1)[0] === option)) {
      notes.push(`${name} cannot be ${option} of a link: it is kept beside the link only.`)
      continue
    }
    Object.assign(input, { [option]: value })
    delete left[name]
  }
  if (input.active_from !== undefined && link.expires_at !== null) {
    notes.push(
      'The import may have let it expire because it had not begun: look at its expiry date.',
    )
  }
  return { input, rest: left, notes }
}

type RevivedRules = Revival & { readonly taken: readonly string[] }

function rulesOf(
  service: PeerService,
  rest: Rest,
  link: UncountedLink,
  {
    nowMs,
    faultsOf,
  }: { readonly nowMs: number; readonly faultsOf: (input: LinkInput) => FieldFaults },
): RevivedRules {
  const { targeting, names, warnings } = targetingOf(service, rest, link, nowMs)
  const nothing = { input: {}, rest, taken: [] }
  const devices = devicesOf(targeting, link)
  const earlier = rulesLeft(rest)
  const offered = [...earlier, ...targeting.rules]
  const isNothing = offered.length === 0 && Object.keys(devices).length === 0
  if (isNothing) return { ...nothing, notes: targeting.notes }
  if (link.rules !== null || link.rule_set !== null) {
    const note =
      'It has rules in Terse, which stay as they are: those of the other service are kept beside the link.'
    return { ...nothing, notes: [note] }
  }
  const input = { ...identityOf(link), ...devices, rules: offered }
  const { rules, left, notes } = usableRules(input, faultsOf)
  const used = [...names, ...(earlier.length > 0 ? [RULES_LEFT] : [])]
  const others = Object.entries(rest).filter(([name]) => !used.includes(name))
  return {
    input: { ...devices, ...(rules !== null && { rules }) },
    rest: {
      ...Object.fromEntries(others),
      ...targeting.rest,
      ...(left.length > 0 && { [RULES_LEFT]: left }),
    },
    taken: takenOf(rules ?? [], Object.keys(devices)),
    notes: [...targeting.notes, ...warnings, ...notes],
  }
}

function rulesLeft({ [RULES_LEFT]: rules }: Rest): readonly RuleInput[] {
  const isRule = (rule: unknown): rule is RuleInput =>
    isRecord(rule) && isRecord(rule.when) && isRecord(rule.then)
  return Array.isArray(rules) && rules.every(isRule) ? rules : []
}

function takenOf(rules: readonly RuleInput[], devices: readonly string[]): readonly string[] {
  const count = rules.length === 1 ? '1 rule' : `${rules.length} rules`
  return [...(rules.length === 0 ? [] : [count]), ...devices]
}

/** What changes of `ios` and `android`: they moved into rules, or the link has none of its own. */
function devicesOf(
  { ios, android, rules }: Targeting,
  link: Pick<UncountedLink, 'ios' | 'android'>,
): Pick<LinkInput, 'ios' | 'android'> {
  const change = (before: string | null, after: string | null, os: string) => {
    if (before === null) return after === null ? undefined : after
    const isRule = rules.some(({ when, then }) => when.os?.join() === os && then.url === before)
    return after === null && isRule ? null : undefined
  }
  const changes = {
    ios: change(link.ios, ios, 'ios'),
    android: change(link.android, android, 'android'),
  }
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

function targetingOf(
  service: PeerService,
  rest: Rest,
  { ios, android }: UncountedLink,
  nowMs: number,
): {
  readonly targeting: Targeting
  /** The names whose values the targeting is made of. */
  readonly names: readonly string[]
  readonly warnings: readonly string[]
} {
  const names = TARGETING_NAMES[service] as readonly string[]
  const devices = { ios, android }
  const made = (targeting: Targeting, more: readonly string[] = []) => ({
    ...{ targeting, names: [...names, ...more], warnings: [] },
  })
  switch (service) {
    case 'dub':
      return made(dubTargeting({ ...rest, ...devices }, nowMs), [
        'testStartedAt',
        'testCompletedAt',
      ])
    case 'sink':
      return made(sinkTargeting(devices, rest.geo))
    case 'shortio':
      return made(shortIoTargeting({ ...rest, ...devices }), ['splitPercent'])
    case 'rebrandly':
      return made(rebrandlyTargeting(rest), rebrandlyRuleNames(rest))
    case 'shlink': {
      const redirectRules = redirectRulesOf(rest.redirectRules)
      const { rules, isSure } = withTakenDevices(redirectRules, devices)
      const targeting = shlinkTargeting({
        redirectRules: rules,
        deviceLongUrls: rest.deviceLongUrls,
      })
      const warnings = isSure
        ? []
        : [
            'Whether ios or android came before its other rules at Shlink is not known: both come first.',
          ]
      return { targeting, names, warnings }
    }
    default:
      return made({ ios: null, android: null, rules: [], rest: {}, notes: [] })
  }
}

function redirectRulesOf(value: unknown): readonly RedirectRule[] {
  if (!Array.isArray(value)) return []
  return value.filter(
    (rule): rule is RedirectRule =>
      isRecord(rule) && typeof rule.longUrl === 'string' && Array.isArray(rule.conditions),
  )
}

/** The fields that a new link requires, so that `faultsOf` reports none of them as missing. */
function identityOf({ domain, key, url }: UncountedLink) {
  return { domain, key, url }
}
