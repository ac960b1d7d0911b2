import { isIP } from 'node:net'
import { z } from 'zod'
import { addressAndPort, baseUrl, integer } from '../setting-schemas.ts'
import { setting } from './setting.ts'

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
