import { hash } from 'node:crypto'
import Bowser from 'bowser'
import { isBot } from 'isbot'
import { SieveCache } from '../../platform/cache/sieve-cache.ts'
import { CLICK_FLAGS } from '../click.ts'
import { appOf, screenOf } from './agent-marks.ts'

/** The system for which a link may have a destination of its own. */
export type Device = 'ios' | 'android' | 'other'

/** No real user agent is longer, and the patterns below must not be given all that a header holds. */
const USER_AGENT_LENGTH_MAX = 512
const KNOWN_AGENTS_MAX = 4096
/** 96 bits: no two agents that ever come share them. */
const DIGEST_LENGTH = 16

/** What a user agent tells. */
export type AgentFacts = {
  /** Stands for the agent, as far as it is read, where that would be long to work with. */
  readonly digest: string
  readonly device: Device
  readonly flags: number
  /** As in a click's fields; '' where unknown. */
  readonly kind: string
  readonly os: string
  readonly browser: string
}

const NO_AGENT: AgentFacts = {
  digest: '',
  device: 'other',
  flags: CLICK_FLAGS.noUserAgent,
  kind: '',
  os: '',
  browser: '',
}

/** User agents repeat: what is known of one is kept rather than matched again. */
const knownAgents = new SieveCache<AgentFacts>(KNOWN_AGENTS_MAX)

// A visit asks twice, for its destination and for its click, with the very same text.
let lastAgent: string | undefined
let lastFacts = NO_AGENT

/** What a user agent tells of the visitor's device, and whether it is a bot's. */
export function factsOfAgent(userAgent: string | undefined): AgentFacts {
  if (userAgent === lastAgent) return lastFacts
  lastFacts = lookUp(userAgent)
  lastAgent = userAgent
  return lastFacts
}

function lookUp(userAgent: string | undefined): AgentFacts {
  if (userAgent === undefined || userAgent === '') return NO_AGENT
  const agent =
    userAgent.length > USER_AGENT_LENGTH_MAX ? userAgent.slice(0, USER_AGENT_LENGTH_MAX) : userAgent
  const known = knownAgents.get(agent)
  if (known !== undefined) return known
  if (userAgent.trim() === '') return NO_AGENT
  const facts = readAgent(agent)
  knownAgents.set(agent, facts, 1)
  return facts
}

function readAgent(text: string): AgentFacts {
  // True: nothing is read but what is asked for.
  const parser = Bowser.getParser(text, true)
  const os = nameAmong(OS_NAMES, parser.parseOS().name)
  return {
    digest: hash('sha256', text, 'base64').slice(0, DIGEST_LENGTH),
    device: deviceOf(text),
    flags: isKnownBot(text) ? CLICK_FLAGS.bot : 0,
    kind: screenOf(text) ?? kindOf(parser.parsePlatform().type, os),
    os,
    browser: appOf(text) ?? shortName(nameAmong(BROWSER_NAMES, parser.parseBrowser().name)),
  }
}

/**
 * The names that the library gives. For an agent that it does not know it repeats what the agent
 * says, which is not kept: it could be anything.
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
 * Whether an agent says that it is a bot. Tools in a person's hands are none, though a bot may use
 * them: a developer who tries a link with curl or a headless browser must see it counted.
 */
function isKnownBot(agent: string): boolean {
  return !/^(?:curl|wget|httpie)\//i.test(agent) && isBot(agent.replace('HeadlessChrome', 'Chrome'))
}

function deviceOf(agent: string): Device {
  if (/iPhone|iPad|iPod/.test(agent)) return 'ios'
  return /Android/i.test(agent) ? 'android' : 'other'
}
