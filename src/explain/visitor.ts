import { createHash } from 'node:crypto'
import type { MadeUpVisitor } from '@terse/contract/explain'
import {
  type Device,
  flagsOfVisit,
  NOWHERE,
  type Place,
  parseUserAgent,
  type RawClick,
  type VisitorFacts,
} from '../clicks/index.ts'
import { hasQrMark, QR_MARK } from '../links/index.ts'
import { FaultList } from '../platform/failure.ts'
import { bytesOfAddress, type Networks } from '../platform/network/ip-address.ts'
import { parseInstant } from '../platform/time/clock.ts'
import { factsOf, looksLikeMachine, RuleVisitor, takeLabel } from '../redirects/index.ts'

/** A visitor whose way is explained. */
export type ExplainedVisitor = {
  readonly rules: RuleVisitor
  /** As `Visit` has it. */
  readonly device: Device
  readonly knowsPassword: boolean
  /** The path of the visited address, with its leading slash; undefined for that of the key. */
  readonly path: string | undefined
  /** As `Click.flags`. */
  readonly flags: number
  /** Whether it uses up nothing of a limit. */
  readonly isMachine: boolean
  /** The names of what is not known of a recorded click. */
  readonly unknown: readonly string[]
  /** The click, where it is a recorded one. */
  readonly click: RawClick | undefined
}

/** What is found out about a made-up visitor. */
export type MadeUpFacts = VisitorFacts & {
  /** Networks of mail scanners and other programs. */
  readonly scannerNetworks: Networks
}

/**
 * Makes the visitor that an input describes.
 *
 * @param labelParameter null where the workspace has no labels
 * @param facts.isSameAlways whether the visitor's variants must not change from day to day
 * @throws {Failure} `validation_failed`
 */
export function madeUpVisitor(
  input: MadeUpVisitor,
  nowMicros: number,
  facts: MadeUpFacts & { readonly isSameAlways?: boolean },
  labelParameter: string | null,
): ExplainedVisitor {
  const faults = new FaultList()
  const { address = '', agent, method = 'GET', variants = {} } = input
  if (address !== '' && bytesOfAddress(address) === undefined) {
    faults.add('address', { code: 'invalid_address' })
  }
  const at =
    input.at === undefined ? nowMicros : (faults.take('at', parseInstant(input.at)) ?? nowMicros)
  faults.throwIfAny()
  const query = queryOf(input, labelParameter)
  const isKnownToday = address !== '' && facts.isSameAlways !== true
  const rules = new RuleVisitor({
    atMs: at / 1000,
    userAgent: agent,
    acceptLanguage: input.language,
    referer: refererOf(input.referrer),
    query,
    label: takeLabel(query, labelParameter).label,
    address: () => address,
    place: () => placeOf(input, facts.place(address)),
    visitor: () =>
      isKnownToday
        ? facts.visitor(address, agent, nowMicros)
        : numberOf(JSON.stringify({ ...input, at: undefined, path: undefined })),
    keptVariant: (rule) => variants[rule],
  })
  const purpose = input.prefetch === true ? 'prefetch' : undefined
  const headers = { secPurpose: purpose, purpose: undefined, xPurpose: undefined, xMoz: undefined }
  const visit = { method, userAgent: agent, address, ...headers }
  return {
    rules,
    device: parseUserAgent(agent).device,
    knowsPassword: input.password === true,
    path: input.path?.replace(/^(?!\/)/, '/'),
    flags: flagsOfVisit(visit),
    isMachine: looksLikeMachine(visit, facts.scannerNetworks),
    unknown: [],
    click: undefined,
  }
}

/** A host is taken for its page. */
function refererOf(referrer: string | undefined): string | undefined {
  if (referrer === undefined) return undefined
  return /^[a-z-]+:\/\//i.test(referrer) ? referrer : `https://${referrer}/`
}

/** With what the label and the QR code of a visit add to its query. */
function queryOf(
  { query = '', label, qr = false }: MadeUpVisitor,
  labelParameter: string | null,
): string {
  const parameters = query === '' ? [] : [query.replace(/^\?/, '')]
  if (label !== undefined && labelParameter !== null) {
    parameters.push(`${labelParameter}=${encodeURIComponent(label)}`)
  }
  if (qr && !hasQrMark(parameters.join('&'))) parameters.push(QR_MARK)
  return parameters.join('&')
}

/** What a click does not keep. Its visitor is a number that no address can be found by. */
const NOT_RECORDED = [
  ...(['address', 'agent', 'path', 'query', 'referrer_page', 'other_languages'] as const),
]

/** Makes the visitor of a recorded click, as far as they are known. */
export function recordedVisitor(click: RawClick): ExplainedVisitor {
  const { at, country, language, referrer, source, visitor } = click
  const isIpad = click.os === 'iOS' && click.device === 'tablet'
  const agent = factsOf({ ...click, kind: click.device }, isIpad)
  const rules = new RuleVisitor(
    {
      atMs: at / 1000,
      userAgent: undefined,
      acceptLanguage: language === '' ? undefined : language,
      referer: referrer === '' ? undefined : `https://${referrer}/`,
      query: source === 'qr' ? QR_MARK : '',
      label: click.label,
      address: () => '',
      place: () => ({ ...NOWHERE, country }),
      visitor: () => visitor,
      keptVariant: (rule) => (rule === click.rule ? click.variant : undefined),
    },
    agent,
  )
  return {
    rules,
    device: click.os === 'iOS' ? 'ios' : click.os === 'Android' ? 'android' : 'other',
    // A visitor without it would not have been redirected, and not counted.
    knowsPassword: true,
    path: undefined,
    flags: click.flags,
    isMachine: click.flags !== 0,
    unknown: NOT_RECORDED,
    click,
  }
}

/** What is made up counts before what the address says; another country has none of its regions and cities. */
function placeOf({ country, region, city }: MadeUpVisitor, found: Place): Place {
  const code = country?.toUpperCase() ?? found.country
  const known = code === found.country ? found : NOWHERE
  return { country: code, region: region ?? known.region, city: city ?? known.city }
}

/** Identifies a made-up visitor: the same for the same description. 53 bits. */
function numberOf(description: string): number {
  const digest = createHash('sha256').update(description).digest()
  return digest.readUIntBE(0, 6) * 32 + ((digest[6] ?? 0) & 31)
}
