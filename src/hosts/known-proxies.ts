import { networksOf } from '../platform/network/ip-address.ts'

/**
 * Known reverse proxies, with their published networks (https://www.cloudflare.com/ips/,
 * https://api.fastly.com/public-ip-list).
 */
const PROXY_NETWORKS: Readonly<Record<string, readonly string[]>> = {
  Cloudflare: [
    '173.245.48.0/20',
    '103.21.244.0/22',
    '103.22.200.0/22',
    '103.31.4.0/22',
    '141.101.64.0/18',
    '108.162.192.0/18',
    '190.93.240.0/20',
    '188.114.96.0/20',
    '197.234.240.0/22',
    '198.41.128.0/17',
    '162.158.0.0/15',
    '104.16.0.0/13',
    '104.24.0.0/14',
    '172.64.0.0/13',
    '131.0.72.0/22',
    '2400:cb00::/32',
    '2606:4700::/32',
    '2803:f800::/32',
    '2405:b500::/32',
    '2405:8100::/32',
    '2a06:98c0::/29',
    '2c0f:f248::/32',
  ],
  Fastly: [
    '23.235.32.0/20',
    '43.249.72.0/22',
    '103.244.50.0/24',
    '103.245.222.0/23',
    '103.245.224.0/24',
    '104.156.80.0/20',
    '140.248.64.0/18',
    '140.248.128.0/17',
    '146.75.0.0/17',
    '151.101.0.0/16',
    '157.52.64.0/18',
    '167.82.0.0/17',
    '167.82.128.0/20',
    '167.82.160.0/20',
    '167.82.224.0/20',
    '172.111.64.0/18',
    '185.31.16.0/22',
    '199.27.72.0/21',
    '199.232.0.0/16',
    '2a04:4e40::/32',
    '2a04:4e42::/32',
  ],
}

/** Proxies that are recognised by the target of an alias. */
const PROXY_NAMES: readonly (readonly [suffix: string, proxy: string])[] = [
  ['cdn.cloudflare.net', 'Cloudflare'],
  ['cloudfront.net', 'Amazon CloudFront'],
  ['fastly.net', 'Fastly'],
  ['akamaiedge.net', 'Akamai'],
  ['edgekey.net', 'Akamai'],
  ['edgesuite.net', 'Akamai'],
  ['azureedge.net', 'Azure'],
  ['azurefd.net', 'Azure'],
  ['b-cdn.net', 'bunny.net'],
]

const networksByProxy = Object.entries(PROXY_NETWORKS).map(([proxy, cidrs]) => ({
  proxy,
  networks: networksOf(cidrs),
}))

/** Returns the known proxy in front of a host, or undefined. */
export function findProxy(
  addresses: readonly string[],
  aliases: readonly string[],
): string | undefined {
  for (const [suffix, proxy] of PROXY_NAMES) {
    if (aliases.some((alias) => alias.endsWith(`.${suffix}`))) return proxy
  }
  return networksByProxy.find(({ networks }) => addresses.some((address) => networks.has(address)))
    ?.proxy
}
