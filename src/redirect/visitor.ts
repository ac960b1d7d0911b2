import type { IncomingHttpHeaders } from 'node:http'
import { isBot } from 'isbot'
import { CLICK_FLAGS } from '../domain/clicks/click.ts'
import { SieveCache } from '../lib/sieve-cache.ts'

export type Device = 'ios' | 'android' | 'other'

/** No real user agent is longer, and the patterns below must not be given all that a header holds. */
const USER_AGENT_LENGTH_MAX = 512
const KNOWN_AGENTS_MAX = 4096

type AgentFacts = { readonly device: Device; readonly flags: number }

const NO_AGENT: AgentFacts = { device: 'other', flags: CLICK_FLAGS.noUserAgent }

/** User agents repeat: what is known of one is kept rather than matched again. */
const knownAgents = new SieveCache<AgentFacts>(KNOWN_AGENTS_MAX)

/** What a user agent tells of the visitor's device, and whether it is a bot's. */
export function factsOfAgent(userAgent: string | undefined): AgentFacts {
  if (userAgent === undefined || userAgent.trim() === '') return NO_AGENT
  const agent = userAgent.slice(0, USER_AGENT_LENGTH_MAX)
  const known = knownAgents.get(agent)
  if (known !== undefined) return known
  const facts = { device: deviceOf(agent), flags: isKnownBot(agent) ? CLICK_FLAGS.bot : 0 }
  knownAgents.set(agent, facts, 1)
  return facts
}

/** Whether a browser says that it fetches ahead, before a person asked for it. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purpose = headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose']
  return (
    (typeof purpose === 'string' && /prefetch|prerender|preview/i.test(purpose)) ||
    headers['x-moz'] === 'prefetch'
  )
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
