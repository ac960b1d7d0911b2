import {
  CLICK_FLAGS,
  NOWHERE,
  type Place,
  parseUserAgent,
  referrerHost,
  type UserAgentInfo,
} from '../clicks/index.ts'
import { hasQrMark } from '../links/index.ts'
import { bytesOfAddress } from '../platform/network/ip-address.ts'
import type { QueryValues } from './destination-template.ts'
import { bestLanguage, type Language, type OfferedLanguages } from './languages.ts'

/** What a visit is, as rules need it: headers as sent, and what costs something to find. */
export type VisitSource = {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  readonly userAgent: string | undefined
  readonly acceptLanguage: string | undefined
  readonly referer: string | undefined
  /** Without the question mark. */
  readonly query: string
  /** '' for none. */
  readonly label: string
  /** The client's address; '' if unknown. */
  readonly address: () => string
  readonly place: () => Place
  /** Identifies the visitor for a day: 53 bits. */
  readonly visitor: () => number
  /** Returns the variant that a cookie keeps for a rule. */
  readonly keptVariant: (ruleId: string) => string | undefined
}

const NO_BYTES: readonly number[] = []
/** Of a query, the parameters that rules read: its 4,000 and all tests of a link would take tens of milliseconds. */
const PARAMETERS_MAX = 100

/** The facts of one visit that rules ask about. Each is worked out when a rule first asks for it. */
export class RuleVisitor {
  readonly source: VisitSource
  #agent: AgentFacts | undefined
  #query: QueryValues | undefined
  #address: readonly number[] | undefined
  #place: Place | undefined
  /** Of the list of rules that was asked for last; a link may have its own and those of sets. */
  #language: Language | undefined
  #offered: OfferedLanguages | undefined

  /** @param agent what is known of the user agent where its text is not */
  constructor(source: VisitSource, agent?: AgentFacts) {
    this.source = source
    this.#agent = agent
  }

  get place(): Place {
    this.#place ??= this.source.place()
    return this.#place
  }

  /** With the names of the API, as below; '' if unknown. */
  get device(): string {
    return this.agent.device
  }

  get systems(): readonly string[] {
    return this.agent.systems
  }

  get browser(): string {
    return this.agent.browser
  }

  get isBot(): boolean {
    return this.agent.isBot
  }

  get agent(): AgentFacts {
    this.#agent ??= agentFacts(this.source.userAgent)
    return this.#agent
  }

  /** Returns the one of the languages of a list of rules that suits the visitor best; undefined where none does. */
  bestOf(offered: OfferedLanguages): Language | undefined {
    if (this.#offered !== offered) {
      this.#offered = offered
      this.#language = bestLanguage(offered, this.source.acceptLanguage)
    }
    return this.#language
  }

  /** The first parameters of the visitor's query, decoded. */
  get query(): QueryValues {
    this.#query ??= readQuery(this.source.query)
    return this.#query
  }

  /** '' if none. */
  get label(): string {
    return this.source.label
  }

  get isQr(): boolean {
    return hasQrMark(this.source.query)
  }

  /** The host of the page with the link; '' if none. */
  get referrer(): string {
    return referrerHost(this.source.referer)
  }

  /** 4 or 16 bytes; none if unknown. */
  get address(): readonly number[] {
    this.#address ??= bytesOfAddress(this.source.address()) ?? NO_BYTES
    return this.#address
  }
}

/** A visitor of whom only the time is known. */
export function unknownVisitor(atMs: number): RuleVisitor {
  const unknown = { userAgent: undefined, acceptLanguage: undefined, referer: undefined }
  const none = () => ''
  const source = { ...unknown, atMs, query: '', label: '', address: none, place: () => NOWHERE }
  return new RuleVisitor({ ...source, visitor: () => 0, keptVariant: () => undefined })
}

function readQuery(query: string): QueryValues {
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(firstParameters(query))) {
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

/** Cut before it is decoded, which costs more than to look for the end. */
function firstParameters(query: string): string {
  let end = -1
  for (let count = 0; count < PARAMETERS_MAX; count += 1) {
    end = query.indexOf('&', end + 1)
    if (end === -1) return query
  }
  return query.slice(0, end)
}

/** What rules ask about a user agent, in words of the API. */
export type AgentFacts = {
  readonly device: string
  readonly systems: readonly string[]
  readonly browser: string
  readonly isBot: boolean
}

/** An iPad whose browser asks for desktop pages says that it is a Mac; those besides Safari still name themselves. */
const IPAD_AS_MAC = /Macintosh.*(?:CriOS|FxiOS|EdgiOS|OPiOS|OPT|GSA|Mobile)\//

const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['iOS', 'ios'],
  ['Android', 'android'],
  ['Windows', 'windows'],
  ['Windows Phone', 'windows'],
  ['macOS', 'macos'],
  ['Linux', 'linux'],
  ['Chrome OS', 'chromeos'],
  ['HarmonyOS', 'harmonyos'],
])

/** By what is cached of each agent anyway: to look its text up again would cost more than the rest. */
const known = new WeakMap<UserAgentInfo, AgentFacts>()

function agentFacts(userAgent: string | undefined): AgentFacts {
  const parsed = parseUserAgent(userAgent)
  let facts = known.get(parsed)
  if (facts === undefined) {
    facts = readAgent(userAgent ?? '', parsed)
    known.set(parsed, facts)
  }
  return facts
}

function readAgent(text: string, info: UserAgentInfo): AgentFacts {
  return factsOf(info, /iPad/.test(text) || IPAD_AS_MAC.test(text))
}

/** @param info as clicks store it */
export function factsOf(
  { kind, os, browser, flags }: Pick<UserAgentInfo, 'kind' | 'os' | 'browser' | 'flags'>,
  isIpad: boolean,
): AgentFacts {
  const system = SYSTEMS.get(os)
  return {
    device: isIpad ? 'tablet' : kind === 'mobile' ? 'phone' : kind,
    systems: isIpad ? ['ipados', 'ios'] : system === undefined ? [] : [system],
    browser: browser.toLowerCase().replaceAll(' ', '-'),
    isBot: (flags & CLICK_FLAGS.bot) !== 0,
  }
}
