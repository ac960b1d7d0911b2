import { isIP } from 'node:net'
import { z } from 'zod'
import {
  addressAndPort,
  addresses,
  baseUrl,
  dnsServers,
  HOST_NAME,
  httpsUrl,
  integer,
  networks,
  processCount,
  ROLES,
  roleList,
  schemes,
} from './setting-schemas.ts'

/** What makes a domain `active`; what each means is in the description of the setting. */
const DOMAIN_PROOFS = ['dns', 'routing', 'none'] as const
/** What a click has outlived once its visit is answered. */
const CLICK_DURABILITIES = ['process', 'disk'] as const
/** How an authority sees that a host leads here; what each means is in the description. */
const ACME_CHALLENGES = ['auto', 'http-01', 'tls-alpn-01'] as const
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const MIB = 1024 * 1024
const HOUR_MS = 60 * 60 * 1_000
type Setting<S extends z.ZodType> = {
  /** Reads the variable's text. */
  readonly schema: S
  /** The text that stands for an unset variable; undefined where unset means something else. */
  readonly default: string | undefined
  /** What an unset variable means, where no text says it. */
  readonly unset?: string
  readonly description: string
  /** A secret may also come from the file that the variable with `_FILE` appended names. */
  readonly secret?: true
}

function setting<S extends z.ZodType>(options: Setting<S>): Setting<S> {
  return options
}

/** Every variable that the service reads. The table in the README is made from this. */
export const SETTINGS = {
  TERSE_HOST: setting({
    schema: z
      .string()
      .refine((text) => text === 'localhost' || isIP(text) !== 0, {
        message: 'must be an IP address or localhost',
      })
      .optional(),
    default: undefined,
    unset: 'every address of the machine',
    description: 'The address to listen on.',
  }),
  TERSE_PORT: setting({
    schema: integer(1, 65_535),
    default: '3000',
    description: 'The port for the API and the redirects.',
  }),
  TERSE_TLS: setting({
    schema: z.enum(['auto', 'off'], { error: 'must be auto or off' }),
    default: 'off',
    description:
      'Who sees to HTTPS. `auto`: Terse, on `TERSE_HTTPS_PORT`; plain HTTP leads there. `off`: a proxy in front of it, or nobody.',
  }),
  TERSE_HTTPS_PORT: setting({
    schema: integer(1, 65_535),
    default: '443',
    description:
      'The port for HTTPS, with `TERSE_TLS=auto`. `TERSE_PORT` is then for plain HTTP, which visitors must reach at port 80.',
  }),
  TERSE_HSTS_SECONDS: setting({
    schema: integer(0, 63_072_000),
    default: '0',
    description:
      'For how long browsers are asked to reach the service’s own host over HTTPS alone; `0` asks nothing. Each other domain’s owner sets its own.',
  }),
  TERSE_INTERNAL_LISTEN: setting({
    schema: z.string().transform(addressAndPort).optional(),
    default: undefined,
    unset: 'loopback, on `TERSE_PORT`',
    description:
      'Address and port, such as `10.0.0.5:3001`, at which a proxy on another machine may ask `/internal/tls/allow`. No visitor may reach it.',
  }),
  TERSE_BASE_URL: setting({
    schema: baseUrl.optional(),
    default: undefined,
    unset: '`http://localhost:<port>`',
    description:
      'The address under which people reach the service. Its host is the domain that all workspaces share.',
  }),
  TERSE_DATA_DIR: setting({
    schema: z.string().min(1),
    default: './data',
    description:
      'The folder for everything that must be kept: database, click journal, secret key.',
  }),
  TERSE_DATABASE_URL: setting({
    schema: z
      .string()
      .refine((text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text), {
        message: 'must be a postgres:// address',
      })
      .optional(),
    default: undefined,
    unset: 'SQLite in the data folder',
    description:
      'A PostgreSQL database to use in place of SQLite, such as `postgres://user@host/terse`.',
    secret: true,
  }),
  TERSE_DATABASE_TIMEOUT_SECONDS: setting({
    schema: integer(1, 60).transform((seconds) => seconds * 1_000),
    default: '2',
    description:
      'For how long PostgreSQL may take over what a request asks. What takes longer is answered 503, within a second more (searches, charts and exports have 15 seconds while it answers at all); links at hand redirect whatever it does. More where it is far away or slow.',
  }),
  TERSE_SECRET_KEY: setting({
    schema: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits (openssl rand -hex 32)')
      .optional(),
    default: undefined,
    unset: 'made once, in `secret.key` in the data folder',
    description:
      'The key that seals link passwords and signs cookies: 64 hexadecimal digits. Every node of one database needs the same.',
    secret: true,
  }),
  TERSE_PROCESSES: setting({
    schema: processCount,
    default: '1',
    description:
      'How many processes serve on the port, or `auto`: one for each core. `terse serve --processes` goes before.',
  }),
  TERSE_ROLES: setting({
    schema: roleList,
    default: ROLES.join(','),
    description:
      'What this node does, separated by commas. `redirect`: answers visitors. `api`: answers the API. `jobs`: checks domains and clears away what is old. Each needs a node somewhere. `terse serve --roles` goes before.',
  }),
  TERSE_STOP_DELAY_SECONDS: setting({
    schema: integer(0, 60).transform((seconds) => seconds * 1_000),
    default: '5',
    description:
      'For how long a service that is asked to stop says at `/readyz` that it is not ready and serves on, so that a balancer sends nobody any more. Only where `/readyz` was asked within the last minute.',
  }),
  TERSE_TRUST_PROXY: setting({
    schema: z.string().transform(networks),
    default: '',
    description:
      'Addresses or CIDR networks, separated by commas, of the proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.',
  }),
  TERSE_RATE_LIMIT: setting({
    schema: integer(0, 1_000_000),
    default: '600',
    description:
      'API requests per minute for each token, counted by each node: all processes of one `terse serve` together. `0` is off.',
  }),
  TERSE_METRICS_FROM: setting({
    schema: z.string().transform(networks),
    default: '127.0.0.0/8,::1',
    description:
      'Addresses or CIDR networks, separated by commas, that may read `/metrics`; to others it is not there. What a proxy passes on counts as the visitor’s, never as the proxy’s own.',
  }),
  TERSE_LOG_LEVEL: setting({
    schema: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }),
    default: 'info',
    description:
      'The least important log line to write: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
  }),
  TERSE_DOMAIN_PROOF: setting({
    schema: z.enum(DOMAIN_PROOFS, { error: `must be one of ${DOMAIN_PROOFS.join(', ')}` }),
    default: 'dns',
    description:
      'What makes a domain active. `dns`: its owner has set the TXT record of the workspace, and the domain leads to this service. `routing`: it leads here; where all the domains are yours. `none`: nothing; for a development instance, or where every user is trusted.',
  }),
  TERSE_DNS_TARGET: setting({
    schema: z
      .string()
      .transform((text) => text.toLowerCase().replace(/\.$/, ''))
      .refine((text) => HOST_NAME.test(text), { message: 'must be a host name with a dot' })
      .optional(),
    default: undefined,
    unset: 'the host of `TERSE_BASE_URL`',
    description: 'The name that domains are to lead to by a CNAME record.',
  }),
  TERSE_PUBLIC_ADDRESSES: setting({
    schema: z.string().transform(addresses),
    default: '',
    description:
      'Addresses or CIDR networks, separated by commas, at which this service is reached. When empty, those that DNS gives for `TERSE_DNS_TARGET`.',
  }),
  TERSE_DNS_SERVERS: setting({
    schema: z.string().transform(dnsServers),
    default: '',
    description:
      'DNS servers to ask about domains, separated by commas, such as `9.9.9.9,1.1.1.1:53`. When empty, those of the machine.',
  }),
  TERSE_ACME_DIRECTORY: setting({
    schema: httpsUrl,
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    description:
      'The ACME directory of the authority that issues certificates, with `TERSE_TLS=auto`. An account is opened there, which accepts its terms of service. For trials: `https://acme-staging-v02.api.letsencrypt.org/directory`.',
  }),
  TERSE_ACME_EMAIL: setting({
    schema: z.email({ error: 'must be a mail address' }).optional(),
    default: undefined,
    unset: 'none',
    description: 'Where the authority may write to about the account.',
  }),
  TERSE_ACME_EAB_KID: setting({
    schema: z.string().optional(),
    default: undefined,
    unset: 'none',
    description:
      'The name of an account that you have with the authority (external account binding), for those that ask for one.',
  }),
  TERSE_ACME_EAB_HMAC_KEY: setting({
    schema: z
      .string()
      .regex(/^[A-Za-z0-9_+/-]+=*$/, 'must be in base64url, as the authority shows it')
      .optional(),
    default: undefined,
    unset: 'none',
    description: 'The key of that account, in base64url.',
    secret: true,
  }),
  TERSE_ACME_CA_FILE: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'those that Node.js trusts',
    description:
      'A file with certificates in PEM that the HTTPS of the directory itself is to be trusted by, in the place of the usual ones: for an authority of your own.',
  }),
  TERSE_ACME_CHALLENGE: setting({
    schema: z.enum(ACME_CHALLENGES, { error: `must be one of ${ACME_CHALLENGES.join(', ')}` }),
    default: 'auto',
    description:
      'How the authority sees that a domain leads here. `http-01`: by port 80. `tls-alpn-01`: by port 443. `auto`: by the first that works.',
  }),
  TERSE_ACME_PROFILE: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'that of the authority',
    description:
      'The kind of certificate to ask for, where the authority has several: `shortlived` is one of six days from Let’s Encrypt.',
  }),
  TERSE_CLAIM_ON_LINK: setting({
    schema: z
      .enum(['true', 'false'], { error: 'must be true or false' })
      .transform((text) => text === 'true'),
    default: 'true',
    description:
      'Whether a link on a host that its workspace has not added adds it, as a pending domain. `false`: such a link is refused.',
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
    description: 'Memory in MiB for the links that each process keeps at hand.',
  }),
  TERSE_STALE_MAX_HOURS: setting({
    schema: integer(0, 8_760).transform((hours) => hours * HOUR_MS),
    default: '24',
    description:
      'Hours for which links at hand go on redirecting while PostgreSQL is away, as they last were. `0`: not at all.',
  }),
  TERSE_LINK_COPY: setting({
    schema: z
      .enum(['on', 'off'], { error: 'must be on or off' })
      .transform((text) => text === 'on'),
    default: 'off',
    description:
      'Whether the links at hand are kept in the data folder too, and with `TERSE_TLS=auto` the certificates, their private keys sealed: so that a node that starts while PostgreSQL is away redirects, over HTTPS too. Links take about as much room there as `TERSE_CACHE_MIB` says, certificates a few MiB, in each process.',
  }),
  TERSE_COUNTRY_DATABASE: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'the one that comes with Terse',
    description:
      'An `.mmdb` file that tells the country of an address, such as DB-IP’s or MaxMind’s. Read once, at the start.',
  }),
  TERSE_FAST_REDIRECTS: setting({
    schema: z
      .enum(['on', 'off'], { error: 'must be on or off' })
      .transform((text) => text === 'on'),
    default: 'on',
    description:
      'Whether plain visits are answered past Node’s HTTP server, in the same way at less cost. `off`: all requests go through it.',
  }),
  TERSE_CLICK_DURABILITY: setting({
    schema: z.enum(CLICK_DURABILITIES, {
      error: `must be one of ${CLICK_DURABILITIES.join(', ')}`,
    }),
    default: 'process',
    description:
      'What a click survives once its visitor is answered. `process`: the end of the process, however it ends. `disk`: that of the machine too; each answer waits for the disk.',
  }),
  TERSE_CLICK_RETENTION_DAYS: setting({
    schema: integer(0, 36_500),
    default: '365',
    description:
      'Days for which each single click is kept, for exports. `0` is for ever. What has been counted of clicks, the charts, is kept in any case.',
  }),
} as const

export type SettingName = keyof typeof SETTINGS
export type SettingValues = { [N in SettingName]: z.output<(typeof SETTINGS)[N]['schema']> }
