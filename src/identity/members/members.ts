import type { Role } from '@terse/contract/roles'
import { isUuid } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { sessionChange } from '../../storage/changes.ts'
import type { Store } from '../../storage/store.ts'
import type { Actor } from '../actor.ts'
import { type ActingStores, endLostGrants, memberResetFault, requireActor } from '../grants.ts'
import { type AccessStores, dropUnproved } from '../people/addresses.ts'
import { isHigher, type Operation, requireRankOver } from '../permissions.ts'
import type { Membership, ShownMember } from '../store/membership-store.ts'

type MemberStores = AccessStores & ActingStores

/** A change of one membership, by an actor who was judged in the transaction. */
type MemberChange = {
  readonly actor: Actor
  readonly member: Membership
  readonly now: number
}

/** The operations on the members of a workspace: that of the actor. */
export class Members {
  readonly #store: Store<MemberStores>
  readonly #clock: Clock

  constructor(deps: { store: Store<MemberStores>; clock: Clock }) {
    this.#store = deps.store
    this.#clock = deps.clock
  }

  /** Returns all members, by name. */
  list({ workspaceId }: Actor): Promise<readonly ShownMember[]> {
    return this.#store.read.memberships.listOfWorkspace(workspaceId)
  }

  /** @throws {Failure} `not_found` where the person is no member */
  async get(actor: Actor, personId: string): Promise<ShownMember> {
    const member = (await this.list(actor)).find(({ person }) => person.id === personId)
    if (member === undefined) throw Failure.notFound('Member')
    return member
  }

  /**
   * A higher role ends what `dropUnproved` says.
   *
   * @throws {Failure} `not_found`; `missing_role` or `authentication_required` where a role is given or
   *   taken that the actor may not give; `validation_failed` for the last owner
   */
  async setRole(given: Actor, personId: string, role: Role): Promise<void> {
    await this.#change(given, personId, 'members.patch', async (stores, change) => {
      const { actor, member, now } = change
      if (member.role === role) return
      requireRankOver(actor, member.role)
      requireRankOver(actor, role)
      const isRaised = isHigher(role, member.role)
      if (isRaised) await refuseRise(stores, actor, personId)
      // A role from groups must not become one that outlives them by one's own act, or that of one's own token.
      const isOwnAct = actor.id === personId || actor.kind === 'token'
      const source = isOwnAct ? member.source : 'hand'
      await stores.memberships.setRole(actor.workspaceId, personId, role, source)
      if (isRaised) await dropUnproved(stores, actor, personId, now)
      const event = {
        type: 'member.updated' as const,
        subjectId: personId,
        before: { role: member.role },
        after: { role },
      }
      await stores.events.append(actor, event, now)
    })
  }

  /** As `setRole`. The member's sessions continue in other workspaces; tokens stay with the workspace. */
  async remove(actor: Actor, personId: string): Promise<void> {
    await this.#change(actor, personId, 'members.delete', async (stores, change) => {
      requireRankOver(change.actor, change.member.role)
      await this.#delete(stores, change)
    })
  }

  /**
   * Removes the actor, whatever the role.
   *
   * @throws {Failure} `validation_failed` for the last owner
   */
  async leave(actor: Actor, personId: string): Promise<void> {
    await this.#change(actor, personId, 'workspaces.leave', this.#delete)
  }

  async #delete(stores: MemberStores, { actor, member, now }: MemberChange): Promise<void> {
    const { person_id: personId, role } = member
    await stores.memberships.delete(actor.workspaceId, personId)
    const event = {
      type: 'member.removed' as const,
      subjectId: personId,
      before: { role },
      after: null,
    }
    await stores.events.append(actor, event, now)
  }

  /** Runs a change of one membership, and refuses it where it would leave the workspace without an owner. */
  async #change(
    given: Actor,
    personId: string,
    operation: Operation,
    work: (stores: MemberStores, change: MemberChange) => Promise<void>,
  ): Promise<void> {
    const { workspaceId } = given
    if (!isUuid(workspaceId) || !isUuid(personId)) throw Failure.notFound('Member')
    await this.#store.write(async (stores) => {
      const now = this.#clock.nowMicros()
      const at = { nowMicros: now, personId }
      const actor = await requireActor(stores, given, operation, at)
      const member = await stores.memberships.find(workspaceId, personId)
      if (member === undefined) throw Failure.notFound('Member')
      await work(stores, { actor, member, now })
      await stores.changes.append(sessionChange(personId), now)
      await endLostGrants(stores, personId, now)
      if (member.role !== 'owner') return
      if ((await stores.memberships.countOwners(workspaceId)) > 0) return
      throw Failure.invalid({ role: [{ code: 'last_owner', reason: 'change' }] })
    })
  }
}

/**
 * A higher role ends all access of a person whose address is not proved, in every workspace. So only those may give it who
 * may also make the link for a new password that the person then needs.
 *
 * @throws {Failure} `missing_role`
 */
async function refuseRise(stores: MemberStores, actor: Actor, personId: string): Promise<void> {
  if (actor.kind === 'system' || actor.isOperator) return
  const person = await stores.people.findById(personId)
  if (person === undefined || person.email_proved_at !== null) return
  if ((await memberResetFault(stores, actor, personId, true)) === undefined) return
  throw Failure.missingRole({ code: 'rise_ends_access' })
}
