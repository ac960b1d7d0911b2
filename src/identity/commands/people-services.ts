import type { Invitations } from '../members/invitations.ts'
import type { Members } from '../members/members.ts'
import type { Accounts } from '../people/accounts.ts'
import type { ResetLinks } from '../people/reset-links.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

/** What the commands about people work with. */
export type PeopleServices = {
  readonly workspaces: Pick<Workspaces, 'get'>
  readonly members: Members
  readonly invitations: Invitations
  readonly accounts: Accounts
  readonly resetLinks: ResetLinks
  readonly baseUrl: string
}
