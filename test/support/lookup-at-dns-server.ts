/**
 * Preloaded (`node --import`) into a process of the product: `dns.lookup` asks the DNS server `LOOKUP_SERVER` for names
 * under `test`. The system's resolver, which it calls otherwise, takes no server on a port of a test.
 */
import dns, { type LookupAddress, type LookupAllOptions } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

const resolver = new dns.promises.Resolver()
resolver.setServers([process.env.LOOKUP_SERVER ?? ''])

async function resolveAll(host: string): Promise<LookupAddress[]> {
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return found.flatMap((result, nth) =>
    result.status === 'rejected'
      ? []
      : result.value.map((address) => ({ address, family: nth === 0 ? 4 : 6 })),
  )
}

type Callback = (error: Error | null, addresses: LookupAddress[]) => void

const real = dns.lookup as (host: string, options: LookupAllOptions, callback: Callback) => void

Object.assign(dns, {
  lookup(host: string, options: LookupAllOptions, callback: Callback) {
    if (!host.endsWith('.test')) return real(host, options, callback)
    // It does not reject.
    void resolveAll(host).then((addresses) => {
      const missing = addresses.length > 0 ? null : new Error(`${host} has no address`)
      callback(missing, addresses)
    })
  },
})
syncBuiltinESMExports()
