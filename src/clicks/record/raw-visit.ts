import { hash } from 'node:crypto'
import Bowser from 'bowser'
import { isBot } from 'isbot'
import { memoize } from '../../platform/cache/memoize.ts'
import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { CLICK_FLAGS } from '../click.ts'

/** The input of a click: a visit with its header values as sent. */
export type RawVisit = {
  /** Microseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** The client's address, resolved through trusted proxies. */
  readonly address: string
  /** Whether `address` belongs to a proxy that is not trusted or that sent no client address. */
  readonly isForwarded: boolean
  /** Without the question mark. */
  readonly query: string
  readonly userAgent: string | undefined
  readonly referer: string | undefined
  readonly acceptLanguage: string | undefined
  readonly secPurpose: string | undefined
  readonly purpose: string | undefined
  readonly xPurpose: string | undefined
  readonly xMoz: string | undefined
}

/** The limit of a host name (RFC 1035). */
const HOST_LENGTH_MAX = 253
/** Includes room for scheme, user and port around the host; no browser sends more. */
const READ_LENGTH_MAX = 512

/** For links followed in an app, Android browsers send the app's package name in place of a host. */
const SCHEME = /^(?:https?|android-app):\/\//i
const AUTHORITY_END = /[/?#\\]/
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]{2,45}\])$/

/**
 * Returns the host of a `Referer` header in lower case; '' if it has none. Browsers send international names in
 * ASCII form, so other characters are rejected. Runs in linear time; `new URL` would cost more than the
 * rest of a click.
 */
export function referrerHost(referer: string | undefined): string {
  return referer === undefined ? '' : hostOf(referer)
}

/** Cached: browsers send only the origin to other sites, so few distinct referrers occur. */
const hostOf = memoize(readHost, { countMax: 4096, lengthMax: 128 })

function readHost(referer: string): string {
  const text = referer.length > READ_LENGTH_MAX ? referer.slice(0, READ_LENGTH_MAX) : referer
  const scheme = SCHEME.exec(text)
  if (scheme === null) return ''
  const rest = text.slice(scheme[0].length)
  const end = rest.search(AUTHORITY_END)
  const authority = end === -1 ? rest : rest.slice(0, end)
  const host = authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d{0,5}$/, '')
    .replace(/\.$/, '')
    .toLowerCase()
  return host.length <= HOST_LENGTH_MAX && HOST.test(host) ? host : ''
}

/** Languages have subtags of two or three letters (RFC 5646, section 2.2.1). */
const FIRST_LANGUAGE = /^[ \t]{0,8}([a-z]{2,3})(?:[-,; \t]|$)/i

/** Returns the primary subtag of the first language of an `Accept-Language` header; '' if none. */
export function firstLanguage(acceptLanguage: string | undefined): string {
  return acceptLanguage === undefined ? '' : languageOf(acceptLanguage)
}

const languageOf = memoize((header) => FIRST_LANGUAGE.exec(header)?.[1]?.toLowerCase() ?? '', {
  countMax: 4096,
  lengthMax: 128,
})

/** Whether a browser marks the request as a prefetch. */
export function isPrefetch(
  visit: Pick<RawVisit, 'secPurpose' | 'purpose' | 'xPurpose' | 'xMoz'>,
): boolean {
  const purpose = visit.secPurpose ?? visit.purpose ?? visit.xPurpose
  return (
    (purpose !== undefined && /prefetch|prerender|preview/i.test(purpose)) ||
    visit.xMoz === 'prefetch'
  )
}

/** Returns why a visit does not count as a person's, as a sum of `CLICK_FLAGS`; 0 where it does. */
export function flagsOfVisit(
  visit: Omit<RawVisit, 'at' | 'address' | 'isForwarded' | 'query' | 'referer' | 'acceptLanguage'>,
): number {
  let { flags } = parseUserAgent(visit.userAgent)
  if (visit.method === 'HEAD') flags |= CLICK_FLAGS.head
  if (isPrefetch(visit)) flags |= CLICK_FLAGS.prefetch
  return flags
}

/** The systems for which a link may have its own destination. */
export type Device = 'ios' | 'android' | 'other'

/** Longer than any real user agent; limits the input of the patterns below. */
const USER_AGENT_LENGTH_MAX = 512
const KNOWN_AGENTS_MAX = 4096
/** 96 bits, which makes collisions negligible. */
const DIGEST_LENGTH = 16

/** The facts that a user agent reveals. */
export type UserAgentInfo = {
  /** A short identifier of the user agent text. */
  readonly digest: string
  readonly device: Device
  readonly flags: number
  /** The device kind of `Click.device`; '' if unknown, as in the fields below. */
  readonly kind: string
  readonly os: string
  readonly browser: string
}

const NO_AGENT: UserAgentInfo = {
  digest: '',
  device: 'other',
  flags: CLICK_FLAGS.noUserAgent,
  kind: '',
  os: '',
  browser: '',
}

/** Parsing is expensive and user agents repeat, so results are cached. */
const knownAgents = new SieveCache<UserAgentInfo>(KNOWN_AGENTS_MAX)

// A visit parses the same text twice, for its destination and for its click.
let lastAgent: string | undefined
let lastFacts = NO_AGENT

/** Returns the device, system and browser of a user agent, and whether it is a bot. */
export function parseUserAgent(userAgent: string | undefined): UserAgentInfo {
  if (userAgent === lastAgent) return lastFacts
  lastFacts = findOrParse(userAgent)
  lastAgent = userAgent
  return lastFacts
}

function findOrParse(userAgent: string | undefined): UserAgentInfo {
  if (userAgent === undefined || userAgent === '') return NO_AGENT
  const agent =
    userAgent.length > USER_AGENT_LENGTH_MAX ? userAgent.slice(0, USER_AGENT_LENGTH_MAX) : userAgent
  const known = knownAgents.get(agent)
  if (known !== undefined) return known
  if (userAgent.trim() === '') return NO_AGENT
  const facts = parse(agent)
  knownAgents.set(agent, facts, 1)
  return facts
}

function parse(text: string): UserAgentInfo {
  // `true` skips parsing until a parse method is called.
  const parser = Bowser.getParser(text, true)
  const os = nameAmong(OS_NAMES, parser.parseOS().name)
  return {
    digest: hash('sha256', text, 'base64').slice(0, DIGEST_LENGTH),
    device: deviceOf(text),
    flags: isKnownBot(text) ? CLICK_FLAGS.bot : 0,
    kind: findScreen(text) ?? kindOf(parser.parsePlatform().type, os),
    os,
    browser: findApp(text) ?? shortName(nameAmong(BROWSER_NAMES, parser.parseBrowser().name)),
  }
}

/**
 * The names that the library defines. For an unknown agent it returns text from the header, which is
 * dropped because it could be anything.
 */
const OS_NAMES: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP))
const BROWSER_NAMES: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP))
const KINDS: ReadonlySet<string> = new Set(['desktop', 'mobile', 'tablet', 'tv'])

function nameAmong(names: ReadonlySet<string>, name: string | undefined): string {
  return name !== undefined && names.has(name) ? name : ''
}

function kindOf(type: string | undefined, os: string): string {
  if (type === undefined && os === Bowser.OS_MAP.ChromeOS) return 'desktop'
  return nameAmong(KINDS, type)
}

const SHORT_NAMES: Readonly<Record<string, string>> = {
  'Microsoft Edge': 'Edge',
  'Samsung Internet for Android': 'Samsung Internet',
}

function shortName(name: string): string {
  return SHORT_NAMES[name] ?? name
}

/**
 * Whether a user agent identifies itself as a bot. Tools that people use interactively are not bots: a
 * developer who tests a link with curl or a headless browser must see the click counted.
 */
function isKnownBot(agent: string): boolean {
  return !/^(?:curl|wget|httpie)\//i.test(agent) && isBot(agent.replace('HeadlessChrome', 'Chrome'))
}

function deviceOf(agent: string): Device {
  if (/iPhone|iPad|iPod/.test(agent)) return 'ios'
  return /Android/i.test(agent) ? 'android' : 'other'
}

/** Tokens of in-app browsers, which the parser reports as the system's browser. */
const APPS: readonly (readonly [mark: string, name: string])[] = [
  ['Instagram ', 'Instagram'],
  ['FBAN/', 'Facebook'],
  ['FBAV/', 'Facebook'],
  ['musical_ly', 'TikTok'],
  ['BytedanceWebview', 'TikTok'],
  ['LinkedInApp', 'LinkedIn'],
  ['Snapchat/', 'Snapchat'],
  ['[Pinterest/', 'Pinterest'],
]

/** Tokens of televisions and game consoles, which the parser reports as tablets or desktops. */
const SCREENS: readonly (readonly [mark: string, kind: 'tv' | 'console'])[] = [
  ['PlayStation', 'console'],
  ['Xbox', 'console'],
  ['Nintendo', 'console'],
  ['CrKey/', 'tv'],
  ['SMART-TV', 'tv'],
  ['SmartTV', 'tv'],
  ['Android TV', 'tv'],
  ['Google TV', 'tv'],
  ['GoogleTV', 'tv'],
  ['BRAVIA', 'tv'],
  // The model names of Amazon Fire TV devices begin with AFT.
  ['; AFT', 'tv'],
]

/** Finds the app of an in-app browser. */
function findApp(agent: string): string | undefined {
  return APPS.find(([mark]) => agent.includes(mark))?.[1]
}

/** Finds the device kind of a television or a game console. */
function findScreen(agent: string): string | undefined {
  return SCREENS.find(([mark]) => agent.includes(mark))?.[1]
}
