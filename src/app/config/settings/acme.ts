import { z } from 'zod'
import { httpsUrl, oneOf, setting } from '../setting-schemas.ts'

/** How an authority verifies that a host leads here; the setting's description explains each value. */
const ACME_CHALLENGES = ['auto', 'http-01', 'tls-alpn-01'] as const

/** Settings of the certificate authority and the challenges. */
export const ACME_SETTINGS = {
  TERSE_ACME_DIRECTORY: setting({
    schema: httpsUrl,
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    description:
      'The ACME directory of the authority that issues certificates, with `TERSE_TLS=auto`. Terse opens an account there, which accepts the authority’s terms of service. For trials: `https://acme-staging-v02.api.letsencrypt.org/directory`.',
  }),
  TERSE_ACME_EMAIL: setting({
    schema: z.email({ error: 'must be a mail address' }).optional(),
    default: undefined,
    unset: 'none',
    description: 'The address at which the authority may contact you about the account.',
  }),
  TERSE_ACME_EAB_KID: setting({
    schema: z.string().optional(),
    default: undefined,
    unset: 'none',
    description:
      'The identifier of an existing account with the authority (external account binding), if it requires one.',
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
      'A file with the root certificates (PEM) to verify the HTTPS of the directory itself, instead of the usual ones: for a private authority.',
    path: true,
  }),
  TERSE_ACME_CHALLENGE: setting({
    schema: oneOf(ACME_CHALLENGES),
    default: 'auto',
    description:
      'How the authority verifies that a domain leads here. `http-01`: on port 80. `tls-alpn-01`: on port 443. `auto`: by whichever works.',
  }),
  TERSE_ACME_PROFILE: setting({
    schema: z.string().min(1).optional(),
    default: undefined,
    unset: 'that of the authority',
    description:
      'The kind of certificate to request, if the authority has several: `shortlived` is one of six days from Let’s Encrypt.',
  }),
} as const
