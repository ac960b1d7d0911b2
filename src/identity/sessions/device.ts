import Bowser from 'bowser'

/** Longer than any real user agent; limits the input of the library's patterns. */
const USER_AGENT_LENGTH_MAX = 512
const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP))
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP))

/**
 * Returns the label of a session, such as `Firefox on Linux`. Text of the header itself is never part of it.
 */
export function deviceOf(userAgent: string | undefined): string {
  const agent = userAgent?.slice(0, USER_AGENT_LENGTH_MAX).trim() ?? ''
  if (agent === '') return 'Unknown device'
  const tool = /^(curl|wget|httpie)\//i.exec(agent)?.[1]
  if (tool !== undefined) return tool.toLowerCase()
  const parser = Bowser.getParser(agent, true)
  const browser = among(BROWSERS, parser.parseBrowser().name)
  const system = among(SYSTEMS, parser.parseOS().name)
  if (browser === undefined) return system ?? 'Unknown device'
  return system === undefined ? browser : `${browser} on ${system}`
}

/** For an unknown agent the library returns text from the header, which could be anything. */
function among(names: ReadonlySet<string>, name: string | undefined): string | undefined {
  return name !== undefined && names.has(name) ? name : undefined
}
