import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Whether connections to an IP address are allowed. */
export type AddressGuard = (address: string) => boolean

/** A host that resolves to no address that the guard allows. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError'

  constructor(host: string) {
    super(`${host} is at an address that must not be reached from here`)
  }
}

/**
 * Resolves a host for `net.connect` and returns only the addresses that the guard allows, so that the
 * connection goes to an address that was checked: a second query could return another. Node.js does not
 * call it for a host that is an IP address.
 */
export function checkedLookup(guard: AddressGuard): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0)
      const allowed = addresses.filter(({ address }) => guard(address))
      const [first] = allowed
      if (first === undefined) return callback(new RefusedAddressError(host), '', 0)
      if (options.all === true) return callback(null, allowed)
      callback(null, first.address, first.family)
    })
  }
}
