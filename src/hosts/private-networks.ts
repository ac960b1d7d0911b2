import { Networks } from '../platform/network/ip-address.ts'

/**
 * Networks that are not reachable from the public Internet
 * (https://www.iana.org/assignments/iana-ipv4-special-registry,
 * https://www.iana.org/assignments/iana-ipv6-special-registry). The networks for documentation are
 * left out: nothing uses them.
 */
const IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
const IPV6 = [
  '::/127',
  '64:ff9b:1::/48',
  '100::/64',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]
/** The prefix of IPv4 addresses behind NAT64 (RFC 6052). */
const NAT64_PREFIX = '64:ff9b::'
const NAT64_BITS = 96

const networks = new Networks()
for (const cidr of [...IPV4, ...IPV6]) networks.add(cidr)
for (const cidr of IPV4) {
  const [address, bits] = cidr.split('/')
  networks.add(`${NAT64_PREFIX}${address}/${NAT64_BITS + Number(bits)}`)
}

/** Whether an address is not reachable from the public Internet. */
export function isPrivateAddress(address: string): boolean {
  return networks.has(address)
}
