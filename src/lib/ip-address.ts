import { BlockList, isIP } from 'node:net'

/** Whether the text is an IPv4 or IPv6 address, without brackets or port. */
export function isIpAddress(text: string): boolean {
  return isIP(text) !== 0
}

/** A set of networks in CIDR form, such as the proxies that may say whom they speak for. */
export class Networks {
  readonly #list = new BlockList()
  #empty = true

  /** Adds `10.0.0.0/8`, `::1/128` or a single address. False where the text is none of these. */
  add(cidr: string): boolean {
    const [address = '', prefixText, ...rest] = cidr.split('/')
    const version = isIP(address)
    if (version === 0 || rest.length > 0) return false
    const prefixMax = version === 4 ? 32 : 128
    const prefix = prefixText === undefined ? prefixMax : Number(prefixText)
    if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return false
    if (prefix > prefixMax) return false
    this.#list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6')
    this.#empty = false
    return true
  }

  get isEmpty(): boolean {
    return this.#empty
  }

  has(address: string): boolean {
    if (this.#empty) return false
    const plain = withoutMapping(address)
    const version = isIP(plain)
    return version !== 0 && this.#list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/**
 * The address of the client: the socket's own, unless that is a trusted proxy; then the last entry of
 * `X-Forwarded-For` that is not a trusted proxy itself. What a client wrote into that header before a
 * trusted proxy appended to it is never believed.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | undefined,
  trusted: Networks,
): string {
  let client = withoutMapping(socketAddress)
  if (forwardedFor === undefined || !trusted.has(client)) return client
  for (const entry of forwardedFor.split(',').reverse()) {
    const hop = withoutMapping(withoutPort(entry.trim()))
    if (isIP(hop) === 0) return client
    client = hop
    if (!trusted.has(hop)) return client
  }
  return client
}

/** What one subscriber holds: the address itself for IPv4, its /64 network for IPv6. */
export function subscriberOf(address: string): string {
  if (isIP(address) !== 6) return address
  // The URL Standard's parser knows every way to write one address, and writes it in one way.
  const canonical = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1)
  const [head = '', tail = ''] = canonical.split('::')
  const groups = head === '' ? [] : head.split(':')
  const tailGroups = tail === '' ? [] : tail.split(':')
  while (groups.length + tailGroups.length < 8) groups.push('0')
  return `${[...groups, ...tailGroups].slice(0, 4).join(':')}::/64`
}

/** Some proxies write `192.0.2.1:5678` or `[2001:db8::1]:5678`. */
function withoutPort(hop: string): string {
  const match = /^(?:\[([0-9a-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/i.exec(hop)
  return match?.[1] ?? match?.[2] ?? hop
}

function withoutMapping(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
