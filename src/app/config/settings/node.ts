import { z } from 'zod'
import { integer, networks, oneOf, processCount, ROLES, roleList } from '../setting-schemas.ts'
import { setting } from './setting.ts'

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
