import { z } from 'zod'
import { integer, networks, oneOf, processCount, ROLES, roleList } from '../setting-schemas.ts'
import { setting } from './setting.ts'

const LOG_FORMATS = ['auto', 'pretty', 'json'] as const
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** What a node does, and whom it believes, limits and tells. */
export const NODE_SETTINGS = {
  TERSE_PROCESSES: setting({
    schema: processCount,
    default: '1',
    description:
      'How many processes serve on the port, or `auto`: one for each core. `npx terse serve --processes` goes before.',
  }),
  TERSE_ROLES: setting({
    schema: roleList,
    default: ROLES.join(','),
    description:
      'What this node does, separated by commas. `redirect`: answers visitors. `api`: answers the API. `jobs`: checks domains and clears away what is old. Each needs a node somewhere. `npx terse serve --roles` goes before.',
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
