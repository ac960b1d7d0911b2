import { Invitations } from '../../identity/members/invitations.ts'
import { Members } from '../../identity/members/members.ts'
import { ResetLinks } from '../../identity/people/password-resets.ts'
import { Accounts } from '../../identity/people/people.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { Instance } from './instance.ts'

/**
 * The services for people that need only the database, so that the command line can open them.
 *
 * @param options.throttle limits the invitations of a workspace; undefined for no limit
 * @param options.sendsMail whether invitations are mailed too
 */
export function openPeople(
  { store, clock }: Pick<Instance, 'store' | 'clock'>,
  { throttle, sendsMail = false }: { throttle?: Throttle; sendsMail?: boolean } = {},
) {
  const base = { store, clock, random: systemRandom }
  return {
    members: new Members(base),
    invitations: new Invitations({ ...base, throttle, sendsMail }),
    accounts: new Accounts(base),
    resetLinks: new ResetLinks(base),
  }
}
