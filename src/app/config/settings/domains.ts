import { z } from 'zod'
import { addresses, dnsServers, HOST_NAME, hostNames, oneOf } from '../setting-schemas.ts'
import { setting } from './setting.ts'

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
