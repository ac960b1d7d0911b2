import { isUuid, type Random } from '../../platform/crypto/random.ts'
import type { Store } from '../../platform/database/store.ts'
import { type EventAuthor, INSTANCE } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Actor } from '../actor.ts'
import type { Maker } from '../grants/find-actor.ts'
import { type GrantStores, memberResetFault } from '../grants/grants.ts'
import { type ActingStores, requireActor } from '../grants/require-actor.ts'
import { madeBy, NO_SUBJECT, type OneTimeLink } from '../one-time-links/one-time-link.ts'
import { createOneTimeLink } from '../one-time-links/one-time-links.ts'
import type { Person } from './person.ts'

/** How long a mailed link is valid. */
const MAILED_MICROS = 60 * 60 * 1_000_000
/** How long a link is valid that a person hands over: they may meet tomorrow. */
const HANDED_OVER_MICROS = 24 * 60 * 60 * 1_000_000

export type ResetLink = { readonly link: OneTimeLink; readonly code: string }

type ResetLinkStores = GrantStores & ActingStores

/** Makes links with which people set a new password, for others to hand over. */
export class ResetLinks {
  readonly #deps: { store: Store<ResetLinkStores>; clock: Clock; random: Random }

  constructor(deps: { store: Store<ResetLinkStores>; clock: Clock; random: Random }) {
    this.#deps = deps
  }

  /**
   * For operators. Earlier links of the person stop working.
   *
   * @throws {Failure} `not_found`; `validation_failed` for the actor's own account
   */
  async create(by: Actor, personId: string): Promise<ResetLink> {
    if (!isUuid(personId)) throw Failure.notFound('Person')
    refuseOwn(by, personId)
    return this.#deps.store.write(async (stores) => {
      const at = { nowMicros: this.#deps.clock.nowMicros(), personId }
      const actor = await requireActor(stores, by, 'people.resetPassword', at)
      const person = await stores.people.findById(personId)
      if (person === undefined) throw Failure.notFound('Person')
      await stores.oneTimeLinks.deleteResetsOf(personId)
      return this.#insert(stores, actor, personId, {
        maker: actor,
        lifetimeMicros: HANDED_OVER_MICROS,
      })
    })
  }

  /** For a mail to the person. A request for one must not end a link that was handed over. */
  async createForMail(author: EventAuthor, { id, name }: Person): Promise<ResetLink> {
    const maker = { kind: 'person', id, name, workspaceId: INSTANCE } as const
    const { link, mailedCode } = await this.#deps.store.write((stores) =>
      this.#insert(stores, author, id, { maker, lifetimeMicros: MAILED_MICROS }),
    )
    return { link, code: mailedCode }
  }

  /**
   * For a member of the actor's workspace who belongs to no other workspace, does not operate the instance, and may do
   * no more than the actor: a new password opens everything that the person may do.
   *
   * @throws {Failure} `not_found` for a person who is no member; `validation_failed` for the actor's own account;
   *   `missing_role` where it takes an owner or an operator
   */
  async createForMember(by: Actor, personId: string): Promise<ResetLink> {
    if (!isUuid(personId)) throw Failure.notFound('Member')
    refuseOwn(by, personId)
    return this.#deps.store.write(async (stores) => {
      const at = { nowMicros: this.#deps.clock.nowMicros(), personId }
      const actor = await requireActor(stores, by, 'members.resetPassword', at)
      const fault = await memberResetFault(stores, actor, personId, true)
      if (fault !== undefined) throw fault
      await stores.oneTimeLinks.deleteResetsOf(personId)
      return this.#insert(stores, actor, personId, {
        maker: actor,
        lifetimeMicros: HANDED_OVER_MICROS,
      })
    })
  }

  async #insert(
    stores: GrantStores,
    author: EventAuthor,
    personId: string,
    { maker, lifetimeMicros }: { readonly maker: Maker; readonly lifetimeMicros: number },
  ): Promise<ResetLink & { readonly mailedCode: string }> {
    const { workspaceId } = maker
    const made = await createOneTimeLink(
      this.#deps,
      stores.oneTimeLinks,
      {
        ...NO_SUBJECT,
        kind: 'reset',
        person_id: personId,
        workspace_id: workspaceId === INSTANCE ? null : workspaceId,
        ...madeBy(maker),
      },
      lifetimeMicros,
    )
    const event = { type: 'password_reset.created', subjectId: personId } as const
    const now = this.#deps.clock.nowMicros()
    await stores.events.append(author, { ...event, before: null, after: {} }, now)
    return made
  }
}

/**
 * A link that names its person as its maker was requested by mail: its use checks no maker's rights.
 *
 * @throws {Failure} `validation_failed`
 */
function refuseOwn({ id }: Actor, personId: string): void {
  if (id !== personId) return
  throw Failure.invalid({ id: [{ code: 'own_account' }] })
}

/** Browsers do not send what is behind `#`, so no log has the code. */
export function resetAddress(baseUrl: string, code: string): string {
  return `${baseUrl}/app/reset#code=${code}`
}
