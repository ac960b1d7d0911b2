import { Preference } from './preference.ts'

type Hosts = Readonly<Record<string, string>>

/** The domain of the last link that was made, by person and workspace. */
const lastDomains = new Preference('last-domains', parseHosts)

export function lastDomainOf(personId: string, workspaceId: string): string | undefined {
  return lastDomains.value[`${personId} ${workspaceId}`]
}

export function rememberDomain(personId: string, workspaceId: string, host: string): void {
  lastDomains.set(JSON.stringify({ ...lastDomains.value, [`${personId} ${workspaceId}`]: host }))
}

function parseHosts(text: string | null): Hosts {
  try {
    const hosts: Record<string, unknown> = Object(JSON.parse(text ?? '{}'))
    return Object.fromEntries(
      Object.entries(hosts).flatMap(([of, host]) => (typeof host === 'string' ? [[of, host]] : [])),
    )
  } catch {
    return {}
  }
}
