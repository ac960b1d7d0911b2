import type { Membership, Session } from './session.ts'

/** The workspace that was chosen, or the first. */
export function membershipOf(session: Session, id: string | undefined): Membership | undefined {
  const { memberships } = session
  return memberships.find((one) => one.workspace_id === id) ?? memberships[0]
}
