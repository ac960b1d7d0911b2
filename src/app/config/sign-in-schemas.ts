import { ROLES, type Role } from '@terse/contract/roles'
import { z } from 'zod'

/** Members of a group of the provider have a role in a workspace. */
export type GroupRole = {
  readonly group: string
  /** The name of the workspace. */
  readonly workspace: string
  readonly role: Role
}

const GROUP_ROLE = /^(.+)=([a-z0-9-]{1,63}):([a-z]+)$/

/** `editors=acme:member,web admins=acme:admin` */
export function groupRoles(text: string, context: z.RefinementCtx): readonly GroupRole[] {
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
export const issuerUrl = z.string().refine(
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
