import { integer } from '../setting-schemas.ts'
import { setting } from './setting.ts'

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
