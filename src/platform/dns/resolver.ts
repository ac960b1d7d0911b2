import type { CaaRecord } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { answerOfError } from './answer-of-error.ts'
import type { CaaProperty, DnsAnswer, DnsResolver } from './dns-resolver.ts'

/** More values than these are of no use to a proof, and of use to whoever wants to fill memory. */
const VALUES_MAX = 1_000
const TEXT_LENGTH_MAX = 1_024
const NOT_PRINTABLE = /[^\x20-\x7e]/g

export type ResolverOptions = {
  /** Addresses, with a port or without; the system's own resolvers when there are none. */
  readonly servers: readonly string[]
  /** How long one try of one server may take. */
  readonly timeoutMs: number
  /** Tries of each server. */
  readonly tries: number
  /** How long a question may take in all, whatever the number of servers and tries. */
  readonly deadlineMs: number
}

/**
 * Asks DNS through c-ares. Each question has a channel of its own: it leaves from another port, which
 * makes answers harder to forge (RFC 5452), and follows the system's settings when they change.
 */
export function dnsResolver(options: ResolverOptions): DnsResolver {
  const underWay = new Set<Resolver>()

  async function ask<R, T>(
    question: (resolver: Resolver) => Promise<readonly R[]>,
    read: (record: R) => T,
  ): Promise<DnsAnswer<T>> {
    const { servers, timeoutMs, tries, deadlineMs } = options
    const resolver = new Resolver({ timeout: timeoutMs, tries, maxTimeout: timeoutMs })
    if (servers.length > 0) resolver.setServers(servers)
    const deadline = setTimeout(() => resolver.cancel(), deadlineMs)
    underWay.add(resolver)
    try {
      const records = await question(resolver)
      // An alias whose target has no such record is an answer without values.
      if (records.length === 0) return { kind: 'none', nameExists: true }
      return { kind: 'found', values: records.slice(0, VALUES_MAX).map(read) }
    } catch (error) {
      return answerOfError(error)
    } finally {
      clearTimeout(deadline)
      underWay.delete(resolver)
    }
  }

  return {
    txt: (name) =>
      ask(
        (resolver) => resolver.resolveTxt(name),
        (chunks) => printable(chunks.join('')),
      ),
    cname: (name) =>
      ask(
        (resolver) => resolver.resolveCname(name),
        (target) => printable(target).replace(/\.$/, ''),
      ),
    ipv4: (name) => ask((resolver) => resolver.resolve4(name), String),
    ipv6: (name) => ask((resolver) => resolver.resolve6(name), String),
    caa: (name) => ask((resolver) => resolver.resolveCaa(name), caaProperty),
    cancel() {
      for (const resolver of underWay) resolver.cancel()
    },
  }
}

/** What strangers write into DNS is shown on terminals, which would obey some of it. */
function printable(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX).replace(NOT_PRINTABLE, '?')
}

/** Node.js gives a property as a field named after its tag. */
function caaProperty(record: CaaRecord): CaaProperty {
  const { critical, ...fields } = record
  const [tag = '', value = ''] = Object.entries(fields).find(([name]) => name !== 'type') ?? []
  return { tag: printable(tag), value: printable(String(value)), isCritical: critical > 0 }
}
