import { isIP } from 'node:net'
import { z } from 'zod'
import { parseClicksUrl } from '../../../storage/clickhouse/clicks-url.ts'
import { parseDatabaseUrl } from '../../../storage/postgres/database-url.ts'
import {
  addressAndPort,
  baseUrl,
  integer,
  networks,
  oneOf,
  processCount,
  ROLES,
  roleList,
  setting,
} from '../setting-schemas.ts'

/** Settings of the listening addresses and of the public address. */
export const LISTENING_SETTINGS = {
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
      'Whether Terse serves HTTPS. `auto`: yes, on `TERSE_HTTPS_PORT`, with certificates that it obtains; plain HTTP redirects there. `off`: no; a proxy in front may.',
  }),
  TERSE_HTTPS_PORT: setting({
    schema: integer(1, 65_535),
    default: '443',
    description:
      'The port for HTTPS, with `TERSE_TLS=auto`. `TERSE_PORT` is then for plain HTTP, and must be reachable as port 80.',
  }),
  TERSE_HSTS_SECONDS: setting({
    schema: integer(0, 63_072_000),
    default: '0',
    description:
      'For how long browsers use only HTTPS with the service’s own host (HSTS). `0`: the header is not sent. Owners of other domains set their own.',
  }),
  TERSE_INTERNAL_LISTEN: setting({
    schema: z.string().transform(addressAndPort).optional(),
    default: undefined,
    unset: 'loopback, on `TERSE_PORT`',
    description:
      'Address and port, such as `10.0.0.5:3001`, at which a proxy on another machine may request `/internal/tls/allow`. Visitors must not be able to reach it.',
  }),
  TERSE_BASE_URL: setting({
    schema: baseUrl.optional(),
    default: undefined,
    unset: '`http://localhost:<port>`',
    description:
      'The address at which people reach the service. All workspaces share the domain that is its host.',
  }),
} as const

const MIB = 1024 * 1024

/** Limits of connections. */
export const CONNECTION_SETTINGS = {
  TERSE_CONNECTIONS_MAX: setting({
    schema: integer(10, 1_000_000),
    default: '10000',
    description:
      'Connections of each process. When all are taken, a new one replaces an idle one of the address that has the most. Trusted proxies (`TERSE_TRUST_PROXY`) are never refused.',
  }),
  TERSE_CONNECTIONS_PER_ADDRESS: setting({
    schema: integer(1, 1_000_000),
    default: '1024',
    description:
      'Of these, how many may come from one IPv4 address or one IPv6 /64 network. Trusted proxies are exempt; name yours in `TERSE_TRUST_PROXY`.',
  }),
  TERSE_UNSENT_MIB: setting({
    schema: integer(16, 65_536).transform((mebibytes) => mebibytes * MIB),
    default: '64',
    description:
      'Memory of each process, in MiB, for answers that clients have not read yet; one address may use a quarter. Beyond that the slowest readers are disconnected.',
  }),
} as const

const LOG_FORMATS = ['auto', 'pretty', 'json'] as const
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Settings of a node: its roles, trusted proxies, rate limit, metrics and logs. */
export const NODE_SETTINGS = {
  TERSE_PROCESSES: setting({
    schema: processCount,
    default: '1',
    description:
      'How many processes serve on the port, or `auto`: one for each core. `npx terse serve --processes` takes precedence.',
  }),
  TERSE_ROLES: setting({
    schema: roleList,
    default: ROLES.join(','),
    description:
      'What this node does, separated by commas. `redirect`: answers visitors. `api`: answers the API. `jobs`: checks domains, orders certificates and deletes old data. Every role needs at least one node. `npx terse serve --roles` takes precedence.',
  }),
  TERSE_STOP_DELAY_SECONDS: setting({
    schema: integer(0, 60).transform((seconds) => seconds * 1_000),
    default: '5',
    description:
      'For how long a stopping service reports at `/readyz` that it is not ready, while it still serves, so that balancers stop using it. Only if `/readyz` was requested within the last minute.',
  }),
  TERSE_TRUST_PROXY: setting({
    schema: z.string().transform(networks),
    default: '',
    description:
      'Addresses or CIDR networks, separated by commas, of the proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.',
  }),
  TERSE_RATE_LIMIT: setting({
    schema: integer(0, 1_000_000),
    default: '600',
    description:
      'API requests per minute for each token, for each person, and for each address without either, counted by each node: all processes of one `terse serve` together. `0`: no limit.',
  }),
  TERSE_METRICS_FROM: setting({
    schema: z.string().transform(networks),
    default: '127.0.0.0/8,::1',
    description:
      'Addresses or CIDR networks, separated by commas, that may read `/metrics`; for others the path does not exist. Requests through a proxy count as the visitor’s, not as the proxy’s.',
  }),
  TERSE_LOG_LEVEL: setting({
    schema: oneOf(LOG_LEVELS),
    default: 'info',
    description:
      'The least important log line to write: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
  }),
  TERSE_LOG_FORMAT: setting({
    schema: oneOf(LOG_FORMATS),
    default: 'auto',
    description:
      'How log lines are written to standard error. `pretty`: as text for people. `json`: as one JSON object a line. `auto`: `pretty` in a terminal, else `json`.',
  }),
} as const

/** Settings of the data folder, the database, and the key that seals secrets. */
export const STORAGE_SETTINGS = {
  TERSE_DATA_DIR: setting({
    schema: z.string().min(1),
    default: './data',
    description:
      'The folder for everything that must be kept: database, click journal, secret key. `--data-dir` takes precedence.',
    path: true,
  }),
  TERSE_ENV_FILE: setting({
    schema: z.string().optional(),
    default: undefined,
    unset: '`terse.env` in the data folder, if there is one',
    description:
      'A file with settings, one `NAME=value` a line; the environment takes precedence over it. `--env-file` takes precedence over this variable.',
    path: true,
  }),
  TERSE_EVENT_RETENTION_DAYS: setting({
    schema: integer(0, 36_500),
    default: '365',
    description:
      'Days for which events are kept: who changed what, as `GET /api/v1/events` returns it. `0` is for ever.',
  }),
  TERSE_DATABASE_URL: setting({
    schema: z
      .string()
      .superRefine((text, context) => {
        const parsed = parseDatabaseUrl(text)
        if ('fault' in parsed) context.addIssue({ code: 'custom', message: parsed.fault })
      })
      .optional(),
    default: undefined,
    unset: 'SQLite in the data folder',
    description:
      'A PostgreSQL database to use instead of SQLite, such as `postgres://user@host/terse`. With standbys, name all servers: `postgres://user@host1:5432,host2:5432/terse?target_session_attrs=read-write`; Terse uses the one that accepts writes.',
    secret: true,
  }),
  TERSE_CLICKS_URL: setting({
    schema: z
      .string()
      .transform((text, context) => {
        const parsed = parseClicksUrl(text)
        if ('value' in parsed) return parsed.value
        context.addIssue({ code: 'custom', message: parsed.fault })
        return z.NEVER
      })
      .optional(),
    default: undefined,
    unset: 'the database',
    description:
      'A ClickHouse database for clicks, such as `clickhouse://user@host:8123/terse`, or `https://` for TLS. Of a cluster: `clickhouse://user@host1:8123,host2:8123/terse?cluster=name`. Links, people and counters of links stay in the database. See [clicks on ClickHouse](operating/clickhouse.md).',
  }),
  TERSE_CLICKS_PASSWORD: setting({
    schema: z.string().optional(),
    default: undefined,
    unset: 'no password',
    description: 'The password of the user in `TERSE_CLICKS_URL`.',
    secret: true,
  }),
  TERSE_DATABASE_TIMEOUT_SECONDS: setting({
    schema: integer(1, 60).transform((seconds) => seconds * 1_000),
    default: '2',
    description:
      'How long PostgreSQL may take for a request. After that, and at most a second more, the answer is 503 (searches, charts and exports may take longer while it responds at all). Cached links redirect in any case. Raise it if the database is far away or slow. Commands, and starts that have no saved links to redirect with, wait for at least 15 seconds.',
  }),
  TERSE_DISK_LOW_PERCENT: setting({
    schema: integer(0, 99).transform((percent) => percent / 100),
    default: '5',
    description:
      'The service warns when less than this share of the data folder’s disk is free, in percent. `0`: never.',
  }),
  TERSE_FILE_CHECK_HOURS: setting({
    schema: integer(0, 24 * 366).transform((hours) => hours * 3_600_000),
    default: '24',
    description:
      'Hours between two checks of the SQLite files for damage, by a process of low priority. They are also checked after a crash. `0`: never.',
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
} as const
