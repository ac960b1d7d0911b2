import { BlockList, isIP } from 'node:net'

/**
 * Networks that are not reachable from the public Internet
 * (https://www.iana.org/assignments/iana-ipv4-special-registry,
 * https://www.iana.org/assignments/iana-ipv6-special-registry). The networks for documentation are
 * left out: nothing uses them.
 */
const PRIVATE_IPV4 = [
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
const PRIVATE_IPV6 = [
  '::/127',
  '64:ff9b:1::/48',
  '100::/64',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

/** `::ffff:0:0/96`: IPv4 addresses on a dual-stack socket (RFC 4291, section 2.5.5.2). */
const MAPPED = [0, 0, 0, 0, 0, 0xffff]
/** `64:ff9b::/96`: IPv4 addresses behind a NAT64 translator (RFC 6052, section 2.1). */
const NAT64 = [0x64, 0xff9b, 0, 0, 0, 0]
/** The first character of an IPv6 address that may represent an IPv4 address. */
const MAY_STAND_FOR_IPV4 = /^[0:6]/
/** Whether the text is an IPv4 or IPv6 address, without brackets or port. */
export function isIpAddress(text: string): boolean {
  return isIP(text) !== 0
}

/** A set of networks in CIDR notation, such as those of trusted proxies. */
export class Networks {
  readonly #list = new BlockList()
  readonly #cidrs: string[] = []

  /** Adds `10.0.0.0/8`, `::1/128` or a single address. Returns false for other text. */
  add(cidr: string): boolean {
    const [address = '', prefixText, ...rest] = cidr.split('/')
    const version = isIP(address)
    if (version === 0 || rest.length > 0) return false
    const prefixMax = version === 4 ? 32 : 128
    const prefix = prefixText === undefined ? prefixMax : Number(prefixText)
    if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return false
    if (prefix > prefixMax) return false
    this.#list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6')
    this.#cidrs.push(cidr)
    return true
  }

  get isEmpty(): boolean {
    return this.#cidrs.length === 0
  }

  /** What was added, for `networksOf` in another process. */
  get cidrs(): readonly string[] {
    return this.#cidrs
  }

  has(address: string): boolean {
    if (this.isEmpty) return false
    const plain = normalizeAddress(address)
    const version = isIP(plain)
    return version !== 0 && this.#list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** @param cidrs as `Networks.add` takes them */
export function networksOf(cidrs: readonly string[]): Networks {
  const networks = new Networks()
  for (const cidr of cidrs) networks.add(cidr)
  return networks
}

const privateNetworks = networksOf([
  ...PRIVATE_IPV4,
  ...PRIVATE_IPV6,
  ...PRIVATE_IPV4.map(behindNat64),
])

function behindNat64(cidr: string): string {
  const [address, bits] = cidr.split('/')
  return `64:ff9b::${address}/${96 + Number(bits)}`
}

/** Whether an address is not reachable from the public Internet: private, loopback, link-local or reserved. */
export function isPrivateAddress(address: string): boolean {
  return privateNetworks.has(address)
}

/**
 * Returns the client's address: the socket's, or, if the socket belongs to a trusted proxy, the last entry of
 * `X-Forwarded-For` that is not itself a trusted proxy. Entries that the client sent, before those appended
 * by trusted proxies, are ignored.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | undefined,
  trusted: Networks,
): string {
  let client = normalizeAddress(socketAddress)
  if (forwardedFor === undefined || !trusted.has(client)) return client
  for (const entry of forwardedFor.split(',').reverse()) {
    const hop = normalizeAddress(withoutPort(entry.trim()))
    if (isIP(hop) === 0) return client
    client = hop
    if (!trusted.has(hop)) return client
  }
  return client
}

/**
 * Whether a request was forwarded without the address of its client: by a proxy that is not trusted, or
 * by one that appended no address to `X-Forwarded-For`.
 */
export function hidesClient(
  socketAddress: string,
  forwardedFor: string | undefined,
  trusted: Networks,
): boolean {
  if (forwardedFor === undefined) return false
  if (!trusted.has(socketAddress)) return true
  const appended = forwardedFor.slice(forwardedFor.lastIndexOf(',') + 1)
  return isIP(normalizeAddress(withoutPort(appended.trim()))) === 0
}

/** The addresses of one subscriber: the address itself for IPv4, its /64 network for IPv6. */
export function subscriberOf(address: string): string {
  const folded = normalizeAddress(address)
  if (isIP(folded) !== 6) return folded
  const network = groupsOf(folded).slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

/** The bytes of an address that do not vary in a network, and their values. */
export type AddressPattern = { readonly bytes: readonly number[]; readonly mask: readonly number[] }

const ANY_NUMBER = /^(?:\d{1,3}|\*)(?:\.(?:\d{1,3}|\*)){3}$/

/** Parses an address, a network such as `10.0.0.0/8`, or `10.*.0.1`; undefined for other text. */
export function parseAddressPattern(text: string): AddressPattern | undefined {
  if (text.includes('*')) {
    const bytes = bytesOfAddress(text.replaceAll('*', '0'))
    if (bytes === undefined || !ANY_NUMBER.test(text)) return undefined
    return { bytes, mask: text.split('.').map((part) => (part === '*' ? 0 : 0xff)) }
  }
  const [address = '', prefixText, ...rest] = text.split('/')
  const bytes = bytesOfAddress(address)
  if (bytes === undefined || address.includes('%') || rest.length > 0) return undefined
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return undefined
  const prefix = Number(prefixText ?? bytes.length * 8)
  if (prefix > bytes.length * 8) return undefined
  const mask = bytes.map((_, at) => (0xff00 >> Math.max(0, Math.min(8, prefix - at * 8))) & 0xff)
  return { bytes: bytes.map((byte, at) => byte & (mask[at] ?? 0)), mask }
}

/** Whether a pattern has an address, given as `bytesOfAddress` returns it. */
export function isInPattern({ bytes, mask }: AddressPattern, address: readonly number[]): boolean {
  if (bytes.length !== address.length) return false
  for (let at = 0; at < bytes.length; at += 1) {
    if (((address[at] ?? 0) & (mask[at] ?? 0)) !== bytes[at]) return false
  }
  return true
}

/** Returns the 4 or 16 bytes of an address; 4 of one that represents an IPv4 address; undefined for other text. */
export function bytesOfAddress(address: string): readonly number[] | undefined {
  const plain = normalizeAddress(address)
  switch (isIP(plain)) {
    case 4:
      return plain.split('.').map(Number)
    case 6:
      return groupsOf(plain).flatMap((group) => [group >> 8, group & 0xff])
    default:
      return undefined
  }
}

/** Removes the port that some proxies append: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
function withoutPort(hop: string): string {
  const match = /^(?:\[([0-9a-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/i.exec(hop)
  return match?.[1] ?? match?.[2] ?? hop
}

/** Returns the IPv4 address that an IPv6 address represents, in any notation; other text unchanged. */
function normalizeAddress(address: string): string {
  // The two common cases: plain IPv4, and IPv4 on a dual-stack socket.
  if (!address.includes(':')) return address
  if (address.startsWith('::ffff:') && isIP(address.slice(7)) === 4) return address.slice(7)
  if (!MAY_STAND_FOR_IPV4.test(address) || isIP(address) !== 6) return address
  const groups = groupsOf(address)
  if (beginsWith(groups, MAPPED)) return ipv4Of(groups)
  if (!beginsWith(groups, NAT64)) return address
  const translated = ipv4Of(groups)
  // NAT64 never maps private addresses (RFC 6052, section 3.1): a forged address must not pass as this machine's.
  return isPrivateAddress(translated) ? address : translated
}

function beginsWith(groups: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((group, index) => groups[index] === group)
}

function ipv4Of(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}

/** Returns the eight groups of an IPv6 address, without its zone. */
function groupsOf(address: string): readonly number[] {
  // The URL parser accepts every notation of an address and returns the canonical one.
  const canonical = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1)
  const [head = '', tail = ''] = canonical.split('::')
  const groups = head === '' ? [] : head.split(':')
  const tailGroups = tail === '' ? [] : tail.split(':')
  while (groups.length + tailGroups.length < 8) groups.push('0')
  return [...groups, ...tailGroups].map((group) => Number.parseInt(group, 16))
}
