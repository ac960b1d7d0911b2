import type { CaaRecord } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import {
  answerFromError,
  type CaaProperty,
  type DnsAnswer,
  type DnsResolver,
} from './dns-resolver.ts'

/** No proof needs more values than this, and a hostile zone cannot fill memory with them. */
const VALUES_MAX = 1_000
const TEXT_LENGTH_MAX = 1_024
const NOT_PRINTABLE = /[^\x20-\x7e]/g

export type ResolverOptions = {
  /** Addresses, with or without a port; empty for the system's resolvers. */
  readonly servers: readonly string[]
  /** For one attempt at one server. */
  readonly timeoutMs: number
  /** Attempts at each server. */
  readonly tries: number
  /** For one query in all, whatever the number of servers and attempts. */
  readonly deadlineMs: number
}

/**
 * Queries DNS with c-ares. Each query has a resolver of its own: it uses another source port, which makes
 * forged answers harder (RFC 5452), and picks up changes of the system's configuration.
 */
export class CaresResolver implements DnsResolver {
  readonly #options: ResolverOptions
  readonly #active = new Set<Resolver>()

  constructor(options: ResolverOptions) {
    this.#options = options
  }

  txt(name: string): Promise<DnsAnswer<string>> {
    return this.#query(
      (resolver) => resolver.resolveTxt(name),
      (chunks) => printable(chunks.join('')),
    )
  }

  cname(name: string): Promise<DnsAnswer<string>> {
    return this.#query(
      (resolver) => resolver.resolveCname(name),
      (target) => printable(target).replace(/\.$/, ''),
    )
  }

  ipv4(name: string): Promise<DnsAnswer<string>> {
    return this.#query((resolver) => resolver.resolve4(name), String)
  }

  ipv6(name: string): Promise<DnsAnswer<string>> {
    return this.#query((resolver) => resolver.resolve6(name), String)
  }

  caa(name: string): Promise<DnsAnswer<CaaProperty>> {
    return this.#query((resolver) => resolver.resolveCaa(name), caaProperty)
  }

  cancel(): void {
    for (const resolver of this.#active) resolver.cancel()
  }

  async #query<R, T>(
    send: (resolver: Resolver) => Promise<readonly R[]>,
    parse: (record: R) => T,
  ): Promise<DnsAnswer<T>> {
    const { servers, timeoutMs, tries, deadlineMs } = this.#options
    const resolver = new Resolver({ timeout: timeoutMs, tries, maxTimeout: timeoutMs })
    if (servers.length > 0) resolver.setServers(servers)
    const deadline = setTimeout(() => resolver.cancel(), deadlineMs)
    this.#active.add(resolver)
    try {
      const records = await send(resolver)
      // The answer for an alias whose target has no such record is empty.
      if (records.length === 0) return { kind: 'none', nameExists: true }
      return { kind: 'found', values: records.slice(0, VALUES_MAX).map(parse) }
    } catch (error) {
      return answerFromError(error)
    } finally {
      clearTimeout(deadline)
      this.#active.delete(resolver)
    }
  }
}

/** Replaces control characters: a terminal that shows the text would interpret them. */
function printable(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX).replace(NOT_PRINTABLE, '?')
}

/** Node.js returns a property as a field that is named after its tag. */
function caaProperty(record: CaaRecord): CaaProperty {
  const { critical, ...fields } = record
  const [tag = '', value = ''] = Object.entries(fields).find(([name]) => name !== 'type') ?? []
  return { tag: printable(tag), value: printable(String(value)), isCritical: critical > 0 }
}
