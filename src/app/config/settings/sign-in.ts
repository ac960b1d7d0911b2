import { ROLES, type Role } from '@terse/contract/roles'
import { z } from 'zod'
import { flag, setting } from '../setting-schemas.ts'

const text = z.string().min(1).optional()

/** Members of a group of the provider have a role in a workspace. */
export type GroupRole = {
  readonly group: string
  /** The name of the workspace. */
  readonly workspace: string
  readonly role: Role
}

const GROUP_ROLE = /^(.+)=([a-z0-9-]{1,63}):([a-z]+)$/

/** `editors=acme:member,web admins=acme:admin` */
function groupRoles(text: string, context: z.RefinementCtx): readonly GroupRole[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.flatMap((part) => {
    if (part === '') return []
    const [, group, workspace, name] = GROUP_ROLE.exec(part) ?? []
    const role = ROLES.find((each) => each === name)
    if (group !== undefined && workspace !== undefined && role !== undefined) {
      return [{ group, workspace, role }]
    }
    context.addIssue({
      code: 'custom',
      message: `"${part}" is not like editors=acme:member, with one of the roles ${ROLES.join(', ')}`,
    })
    return []
  })
}

/** An HTTPS address, or a plain one on this machine. Kept as it is: identities are known by it. */
const issuerUrl = z.string().refine(
  (text) => {
    const url = URL.parse(text)
    if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') return false
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
  },
  { message: 'must be an https:// address without query, such as https://id.example.com' },
)

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
}

/** How people sign in besides passwords, and mail to them. */
export const SIGN_IN_SETTINGS = {
  TERSE_OIDC_ISSUER: setting({
    schema: issuerUrl.optional(),
    default: undefined,
    unset: 'no single sign-on',
    description:
      'The issuer URL of an OpenID Connect provider with which people sign in, such as `https://id.example.com`. Its redirect URI is `<TERSE_BASE_URL>/app/oidc/callback`.',
  }),
  TERSE_OIDC_CLIENT_ID: setting({
    schema: text,
    default: undefined,
    unset: 'none',
    description: 'The identifier of this service with the provider.',
  }),
  TERSE_OIDC_CLIENT_SECRET: setting({
    schema: text,
    default: undefined,
    unset: 'none: a public client',
    description: 'The secret of this service with the provider.',
    secret: true,
  }),
  TERSE_OIDC_NAME: setting({
    schema: z.string().min(1).max(40),
    default: 'Single sign-on',
    description: 'How the provider is called on the sign-in page.',
  }),
  TERSE_OIDC_SCOPES: setting({
    schema: z
      .string()
      .regex(/^openid( [\x21-\x7e]+)*$/, 'must begin with openid, separated by single spaces'),
    default: 'openid email profile',
    description:
      'The scopes to request, separated by spaces. Add the one with which the provider sends groups, if it needs one.',
  }),
  TERSE_OIDC_GROUPS_CLAIM: setting({
    schema: z.string().min(1),
    default: 'groups',
    description: 'The claim that has a person’s groups, for `TERSE_OIDC_ROLES`.',
  }),
  TERSE_OIDC_ROLES: setting({
    schema: z.string().transform(groupRoles),
    default: '',
    description:
      'Which groups have which roles, separated by commas: `editors=acme:member,web admins=acme:admin`. At each sign-in with the provider, a person gets the highest role of their groups in every workspace named here, and loses roles that groups gave and no longer give. Roles given by hand stay. A name means the workspace that had it when it was first used, also after a rename; operators alone rename such workspaces.',
  }),
  TERSE_OWNER_EMAIL: setting({
    schema: z.email({ error: 'must be a mail address' }).optional(),
    default: undefined,
    unset: 'the first person needs the set-up link',
    description:
      'With `TERSE_OIDC_ISSUER`: who signs in with this address, verified by the provider, becomes the first person, while there is none.',
  }),
  TERSE_OAUTH_REGISTRATION: setting({
    schema: flag('on', 'off'),
    default: 'off',
    description:
      'Whether programs may register themselves with the service before they ask a person for access over MCP, at `/api/oauth/register`. `off`: those connect that publish a document about themselves, and those with a token.',
  }),
  TERSE_SMTP_URL: setting({
    schema: z
      .string()
      .refine((value) => /^smtps?:\/\/[^/]/.test(value) && URL.canParse(value), {
        message: 'must be an smtp:// or smtps:// address',
      })
      .optional(),
    default: undefined,
    unset: 'no mail',
    description:
      'The server that sends mail, such as `smtp://user:password@mail.example.com:587` (STARTTLS) or `smtps://…:465`. With a user, `smtp://` requires STARTTLS, except on loopback.',
    secret: true,
  }),
  TERSE_MAIL_FROM: setting({
    schema: z
      .string()
      .regex(/^(?:[^<>\r\n"]* <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/, {
        error: 'must be a mail address, such as Terse <terse@example.com>',
      })
      .optional(),
    default: undefined,
    unset: 'none',
    description: 'The sender of mail, such as `Terse <terse@example.com>`.',
  }),
} as const
