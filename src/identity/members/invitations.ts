import type { Role } from '@terse/contract/roles'
import { isUuid, type Random } from '../../platform/crypto/random.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import {
  type IdempotencyStores,
  runIdempotent,
  type SealedRequest,
} from '../../platform/idempotency/idempotency.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Actor } from '../actor.ts'
import { findGranted, type GrantStores } from '../grants/grants.ts'
import { type ActingStores, requireActor } from '../grants/require-actor.ts'
import { hashCode } from '../one-time-links/one-time-code.ts'
import { madeBy, NO_SUBJECT } from '../one-time-links/one-time-link.ts'
import { createOneTimeLink } from '../one-time-links/one-time-links.ts'
import { foldEmail, parseEmail } from '../people/email.ts'
import { requireRankOver } from '../permissions.ts'
import type { WorkspaceStore } from '../workspaces/store/workspace-store.ts'
import { canCreateAccount, type Invitation, invitationEvent, invitationOf } from './invitation.ts'

const VALID_MICROS = 7 * 24 * 60 * 60 * 1_000_000
/** Open invitations of a workspace: more than any team has, and a bound for a hostile one. */
const OPEN_MAX = 1_000

/** Invitations that a workspace may send in an hour, each of which may be a mail to a stranger. */
export const INVITATION_LIMITS = { limit: 200, windowSeconds: 3_600, keysMax: 10_000 }

export type InvitationDetails = {
  readonly invitation: Invitation
  readonly workspaceName: string
  readonly workspaceTitle: string
  /** Undefined for the code that whoever invites has seen: they must not learn it. */
  readonly accountExists: boolean | undefined
  readonly canCreateAccount: boolean
}

type CreatedInvitation = {
  readonly invitation: Invitation
  readonly code: string
  /** Undefined when an earlier request has made the invitation. */
  readonly mailedCode: string | undefined
}

type InvitationStores = GrantStores &
  ActingStores &
  IdempotencyStores & { readonly workspaces: WorkspaceStore }

/** The operations on the invitations into a workspace, until they are accepted. */
export class Invitations {
  readonly #store: Store<InvitationStores>
  readonly #clock: Clock
  readonly #random: Random
  readonly #throttle: Throttle | undefined
  readonly #sendsMail: boolean

  /**
   * @param deps.throttle by `INVITATION_LIMITS`; undefined for no limit
   * @param deps.sendsMail whether invitations are mailed too
   */
  constructor(deps: {
    store: Store<InvitationStores>
    clock: Clock
    random: Random
    throttle: Throttle | undefined
    sendsMail: boolean
  }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#random = deps.random
    this.#throttle = deps.throttle
    this.#sendsMail = deps.sendsMail
  }

  /**
   * Replaces an open invitation of the same address. The codes are returned here, and `code` is otherwise kept only for a
   * repetition of the request. That for a mail to the address proves it, so no other person may see it, and it is not stored.
   *
   * @throws {Failure} `validation_failed` for a member's address; `missing_role` or
   *   `authentication_required` as `requireRankOver`; `rate_limited`, `idempotency_conflict`
   */
  async create(
    by: Actor,
    given: { readonly email: string; readonly role: Role },
    repeatable?: SealedRequest,
  ): Promise<CreatedInvitation> {
    const { workspaceId } = by
    const email = parseEmail(given.email)
    if ('fault' in email) throw Failure.invalid({ email: [email.fault] })
    this.#charge(workspaceId)
    const emailFolded = foldEmail(email.value)
    let mailedCode: string | undefined
    const now = this.#clock.nowMicros()
    const work = async (stores: InvitationStores, actor: Actor) => {
      if (await stores.memberships.hasAddress(workspaceId, emailFolded)) {
        throw Failure.invalid({ email: [{ code: 'taken', reason: 'member' }] })
      }
      await stores.oneTimeLinks.deleteInvitationsOf(workspaceId, emailFolded)
      const open = await stores.oneTimeLinks.listInvitations(workspaceId, now)
      if (open.length >= OPEN_MAX) {
        throw Failure.invalid({
          email: [{ code: 'limit_reached', reason: 'invitations', max: OPEN_MAX }],
        })
      }
      const made = await createOneTimeLink(
        { clock: this.#clock, random: this.#random },
        stores.oneTimeLinks,
        {
          ...NO_SUBJECT,
          kind: 'invitation',
          email: email.value,
          email_folded: emailFolded,
          workspace_id: workspaceId,
          role: given.role,
          ...madeBy(actor),
        },
        VALID_MICROS,
      )
      mailedCode = made.mailedCode
      const invitation = invitationOf(made.link)
      await stores.events.append(actor, invitationEvent('invitation.created', invitation), now)
      return { invitation, code: made.code }
    }
    const created = await this.#store.write(async (stores) => {
      mailedCode = undefined
      const actor = await requireActor(stores, by, 'invitations.create', { nowMicros: now })
      requireRankOver(actor, given.role)
      return runIdempotent(stores, workspaceId, repeatable, now, {
        read: async () => {},
        write: () => work(stores, actor),
      })
    })
    return { ...created, mailedCode }
  }

  /** Returns the open invitations, oldest first. */
  async list({ workspaceId }: Actor): Promise<readonly Invitation[]> {
    const now = this.#clock.nowMicros()
    const links = await this.#store.read.oneTimeLinks.listInvitations(workspaceId, now)
    return links.map(invitationOf)
  }

  /** @throws {Failure} `not_found` also for an invitation that was accepted */
  async delete(by: Actor, id: string): Promise<void> {
    const notFound = Failure.notFound('Invitation')
    if (!isUuid(id)) throw notFound
    await this.#store.write(async (stores) => {
      const now = this.#clock.nowMicros()
      const actor = await requireActor(stores, by, 'invitations.delete', { nowMicros: now })
      const link = await stores.oneTimeLinks.deleteInvitation(actor.workspaceId, id)
      if (link === undefined) throw notFound
      const event = invitationEvent('invitation.deleted', invitationOf(link))
      await stores.events.append(actor, event, now)
    })
  }

  /**
   * Reads an open invitation without using it.
   *
   * @throws {Failure} `validation_failed` for a code that is not valid
   */
  async lookUp(code: string): Promise<InvitationDetails> {
    const { read } = this.#store
    const { workspaces, people } = read
    const at = { nowMicros: this.#clock.nowMicros(), isUse: false }
    const link = await findGranted(read, 'invitation', hashCode(code), at)
    if (link === undefined) throw invalidInvitation()
    const invitation = invitationOf(link)
    const workspace = await workspaces.findById(invitation.workspace_id)
    if (workspace === undefined) throw invalidInvitation()
    const { name: workspaceName, title: workspaceTitle } = workspace
    const details = { invitation, workspaceName, workspaceTitle }
    if (!link.is_mailed) {
      const mayCreate = canCreateAccount(link, this.#sendsMail)
      return { ...details, accountExists: undefined, canCreateAccount: mayCreate }
    }
    const accountExists = (await people.findByEmail(invitation.email_folded)) !== undefined
    return { ...details, accountExists, canCreateAccount: !accountExists }
  }

  #charge(workspaceId: string): void {
    const verdict = this.#throttle?.take(workspaceId)
    if (verdict === undefined || verdict.allowed) return
    throw Failure.tooMany(
      `This workspace has sent ${INVITATION_LIMITS.limit} invitations within the hour.`,
      verdict.resetSeconds,
    )
  }
}

export function invalidInvitation(): Failure {
  return Failure.invalid({ code: [{ code: 'invalid_code', reason: 'invitation' }] })
}
