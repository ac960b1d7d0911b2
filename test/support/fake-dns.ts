import type { CaaProperty, DnsAnswer, DnsResolver } from '../../src/platform/dns/dns-resolver.ts'

type RecordType = 'TXT' | 'CNAME' | 'A' | 'AAAA' | 'CAA'

/** DNS records by name and type, set by a test, and ways to fail. */
export type FakeDns = DnsResolver & {
  set(name: string, type: Exclude<RecordType, 'CAA'>, ...values: string[]): void
  setCaa(name: string, ...properties: CaaProperty[]): void
  remove(name: string, type: RecordType): void
  /** Every answer while it is set. */
  silence: DnsAnswer<never> | undefined
  /** The number of questions so far. */
  questions: number
  /** Called before each answer. */
  onQuestion: () => Promise<void> | void
}

export function fakeDns(): FakeDns {
  const records = new Map<string, readonly unknown[]>()
  const keyOf = (name: string, type: RecordType) => `${type} ${name}`

  async function ask<T>(name: string, type: RecordType): Promise<DnsAnswer<T>> {
    dns.questions += 1
    await dns.onQuestion()
    if (dns.silence !== undefined) return dns.silence
    const own = records.get(keyOf(name, type)) as readonly T[] | undefined
    if (own !== undefined) return { kind: 'found', values: own }
    const [alias] = (records.get(keyOf(name, 'CNAME')) ?? []) as readonly string[]
    if (alias !== undefined && type !== 'CNAME') return ask(alias, type)
    const nameExists = [...records.keys()].some(
      (key) => key.endsWith(` ${name}`) || key.endsWith(`.${name}`),
    )
    return { kind: 'none', nameExists }
  }

  const dns: FakeDns = {
    silence: undefined,
    questions: 0,
    onQuestion: () => {},
    set: (name, type, ...values) => records.set(keyOf(name, type), values),
    setCaa: (name, ...properties) => records.set(keyOf(name, 'CAA'), properties),
    remove: (name, type) => records.delete(keyOf(name, type)),
    txt: (name) => ask(name, 'TXT'),
    cname: (name) => ask(name, 'CNAME'),
    ipv4: (name) => ask(name, 'A'),
    ipv6: (name) => ask(name, 'AAAA'),
    caa: (name) => ask(name, 'CAA'),
    cancel: () => {},
  }
  return dns
}
