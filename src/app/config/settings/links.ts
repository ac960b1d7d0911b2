import { z } from 'zod'
import {
  addresses,
  dnsServers,
  flag,
  HOST_NAME,
  hostNames,
  integer,
  networksOrFile,
  oneOf,
  schemes,
  setting,
} from '../setting-schemas.ts'

const MIB = 1024 * 1024
const HOUR_MS = 60 * 60 * 1_000

/** Settings of links and of the answers to visits. */
export const LINK_SETTINGS = {
  TERSE_CLAIM_ON_LINK: setting({
    schema: flag('true', 'false'),
    default: 'true',
    description:
      'Whether creating a link on a host that its workspace has not added also adds the host, as a pending domain, if the token or person may add domains. `false`: such a link is refused.',
  }),
  TERSE_APP_SCHEMES: setting({
    schema: schemes,
    default: '',
    description:
      'URL schemes, separated by commas, that the `ios` and `android` destinations may use besides `http` and `https`, such as `myapp`.',
  }),
  TERSE_CACHE_MIB: setting({
    schema: integer(1, 65_536).transform((mib) => mib * MIB),
    default: '64',
    description: 'Memory in MiB for the links that each process caches.',
  }),
  TERSE_STALE_MAX_HOURS: setting({
    schema: integer(0, 8_760).transform((hours) => hours * HOUR_MS),
    default: '24',
    description:
      'Hours for which cached links redirect while PostgreSQL is down, in their last known state. `0`: not at all.',
  }),
  TERSE_LINK_COPY: setting({
    schema: flag('on', 'off'),
    default: 'off',
    description:
      'Whether cached links are also stored in the data folder, and with `TERSE_TLS=auto` the certificates, their private keys sealed. A node that starts while PostgreSQL is down then redirects, over HTTPS too. Each process needs about `TERSE_CACHE_MIB` of disk space for links, and a few MiB for certificates.',
  }),
  TERSE_COUNTRY_DATABASE: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'the one that comes with Terse',
    description:
      'An `.mmdb` file that maps addresses to countries, such as DB-IP’s or MaxMind’s. With one of cities, rules of links may ask for regions and cities. Read once, at the start.',
    path: true,
  }),
  TERSE_SCANNER_NETWORKS: setting({
    schema: z.string().trim().transform(networksOrFile),
    default: '',
    description:
      'Addresses or CIDR networks, separated by commas, from which mail scanners and other programs open links, or the absolute path of a file with one on each line. They use up no click of a link with `max_clicks`. Read once, at the start.',
  }),
  TERSE_PREVIEW_NETWORKS: setting({
    schema: z.string().trim().transform(networksOrFile),
    default: '',
    description:
      'Private addresses or CIDR networks, separated by commas, whose pages members may read for the preview of a link; likewise a file. All other private addresses are refused.',
  }),
  TERSE_WEBHOOK_ALLOW: setting({
    schema: z.string().trim().transform(networksOrFile),
    default: '',
    description:
      'Private addresses or CIDR networks, separated by commas, to which webhooks may send events; likewise a file. All other private addresses are refused.',
  }),
  TERSE_FAST_REDIRECTS: setting({
    schema: flag('on', 'off'),
    default: 'on',
    description:
      'Whether plain visits bypass Node’s HTTP server, with the same answers at less cost. `off`: all requests go through it.',
  }),
} as const

/** What makes a domain `active`; the setting's description explains each value. */
const DOMAIN_PROOFS = ['dns', 'routing', 'none'] as const

/** Settings of the proof of domains, and of the addresses to which they must lead. */
export const DOMAIN_SETTINGS = {
  TERSE_DOMAIN_PROOF: setting({
    schema: oneOf(DOMAIN_PROOFS),
    default: 'dns',
    description:
      'What makes a domain active. `dns`: its TXT record names the workspace, and the domain leads to this service. `routing`: it leads here; for instances whose domains are all yours. `none`: nothing is required; for development, or if every user is trusted.',
  }),
  TERSE_RESERVED_DOMAINS: setting({
    schema: z.string().transform(hostNames).optional(),
    default: undefined,
    unset: 'with `TERSE_DOMAIN_PROOF=routing`, the registered domains of the service’s own names',
    description:
      'Names, separated by commas, that no workspace can add by itself, nor any name below them: the operator adds them with `npx terse domain add`, and with `routing` too they need their TXT record. `none`: only the name of `TERSE_BASE_URL` is reserved.',
  }),
  TERSE_DNS_TARGET: setting({
    schema: z
      .string()
      .transform((text) => text.toLowerCase().replace(/\.$/, ''))
      .refine((text) => HOST_NAME.test(text), { message: 'must be a host name with a dot' })
      .optional(),
    default: undefined,
    unset: 'the host of `TERSE_BASE_URL`',
    description: 'The name that the CNAME records of domains must point to.',
  }),
  TERSE_PUBLIC_ADDRESSES: setting({
    schema: z.string().transform(addresses),
    default: '',
    description:
      'Addresses or CIDR networks, separated by commas, at which this service is reached. When empty, those that DNS returns for `TERSE_DNS_TARGET`.',
  }),
  TERSE_DNS_SERVERS: setting({
    schema: z.string().transform(dnsServers),
    default: '',
    description:
      'DNS servers for questions about domains, separated by commas, such as `9.9.9.9,1.1.1.1:53`. When empty, those of the machine.',
  }),
} as const

/** What an answered click survives: a crash of the process, or a power failure as well. */
const CLICK_DURABILITIES = ['process', 'disk'] as const

/** Settings of the durability and retention of clicks. */
export const CLICK_SETTINGS = {
  TERSE_CLICK_DURABILITY: setting({
    schema: oneOf(CLICK_DURABILITIES),
    default: 'process',
    description:
      'What an answered click survives. `process`: a crash of the process. `disk`: a crash of the machine too; each answer waits for the disk.',
  }),
  TERSE_CLICK_RETENTION_DAYS: setting({
    schema: integer(0, 36_500),
    default: '365',
    description:
      'Days for which single clicks are stored, for exports. `0`: for ever. The counts, and so the charts, are always kept.',
  }),
  TERSE_CLICK_CAP_PER_MINUTE: setting({
    schema: integer(0, 1_000_000),
    default: '300',
    description:
      'Clicks of one address (an IPv6 /64) on one link that each process stores one by one in a minute. Further ones are counted as bots, and stored as a number. `0`: no cap.',
  }),
  TERSE_RAW_CLICKS_PER_MINUTE: setting({
    schema: integer(0, 100_000_000),
    default: '60000',
    description:
      'Clicks of one workspace that each process stores one by one in a minute. Further ones are fully counted in charts, but missing in exports. `0`: no limit.',
  }),
} as const

const COUNT_MAX = 1_000_000_000_000

/** The default quotas of a workspace. */
export const QUOTA_SETTINGS = {
  TERSE_QUOTA_LINKS: setting({
    schema: integer(0, COUNT_MAX),
    default: '0',
    description:
      'Links that each workspace may have. `0`: no limit. `npx terse workspace quota` sets other limits for one workspace, for this and the other quotas.',
  }),
  TERSE_QUOTA_DOMAINS: setting({
    schema: integer(0, COUNT_MAX),
    default: '0',
    description: 'Domains that each workspace may have, active and pending. `0`: no limit.',
  }),
  TERSE_QUOTA_PENDING_DOMAINS: setting({
    schema: integer(0, COUNT_MAX),
    default: '1000',
    description: 'Domains that each workspace may have waiting for their proof. `0`: no limit.',
  }),
  TERSE_QUOTA_STORAGE_MIB: setting({
    schema: integer(0, 1_000_000_000).transform((mib) => mib * MIB),
    default: '0',
    description:
      'Text in MiB that the links of each workspace may hold: keys, destinations, tags and the like. `0`: no limit.',
  }),
  TERSE_QUOTA_CONVERSIONS: setting({
    schema: integer(0, COUNT_MAX),
    default: '1000000',
    description: 'Conversions that are kept of each workspace. `0`: no limit.',
  }),
  TERSE_QUOTA_REQUESTS: setting({
    schema: integer(0, 1_000_000_000),
    default: '0',
    description:
      'API requests per minute of each workspace, those of all its tokens together, counted like `TERSE_RATE_LIMIT`. `0`: no limit.',
  }),
} as const
