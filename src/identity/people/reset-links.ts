import type { Random } from '../../platform/crypto/random.ts'
import { isUuid } from '../../platform/crypto/uuid.ts'
import type { Store } from '../../platform/database/store.ts'
import type { EventAuthor, EventWriter } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Actor } from '../actor.ts'
import type { MembershipStore } from '../members/store/membership-store.ts'
import { NO_SUBJECT, type OneTimeLink } from '../one-time-links/one-time-link.ts'
import { createOneTimeLink } from '../one-time-links/one-time-links.ts'
import type { OneTimeLinkStore } from '../one-time-links/store/one-time-link-store.ts'
import { requirePermission } from '../permissions.ts'
import type { PersonStore } from './store/person-store.ts'

/** Of a link in a mail. */
const MAILED_MICROS = 60 * 60 * 1_000_000
/** Of a link that a person hands over: they may meet tomorrow. */
const HANDED_OVER_MICROS = 24 * 60 * 60 * 1_000_000

type ResetLinkStores = {
  readonly people: PersonStore
  readonly memberships: MembershipStore
  readonly oneTimeLinks: OneTimeLinkStore
  readonly events: EventWriter
}

export type ResetLink = { readonly link: OneTimeLink; readonly code: string }

/** Makes links with which people set a new password, for others to hand over. */
export class ResetLinks {
  readonly #deps: { store: Store<ResetLinkStores>; clock: Clock; random: Random }

  constructor(deps: { store: Store<ResetLinkStores>; clock: Clock; random: Random }) {
    this.#deps = deps
  }

  /**
   * For operators. Earlier links of the person stop working.
   *
   * @throws {Failure} `not_found`
   */
  async create(author: EventAuthor, personId: string): Promise<ResetLink> {
    if (!isUuid(personId)) throw Failure.notFound('Person')
    return this.#deps.store.write(async (stores) => {
      await stores.oneTimeLinks.deleteResetsOf(personId)
      return this.#insert(stores, author, personId, HANDED_OVER_MICROS)
    })
  }

  /** For a mail to the person. A request for one must not end a link that was handed over. */
  createForMail(author: EventAuthor, personId: string): Promise<ResetLink> {
    return this.#deps.store.write((stores) => this.#insert(stores, author, personId, MAILED_MICROS))
  }

  /**
   * For a member of the actor's workspace who belongs to no other workspace and does not operate the instance:
   * a new password opens everything that the person may do.
   *
   * @throws {Failure} `not_found` for a person who is no member; `missing_role` where it takes an owner or an
   *   operator
   */
  async createForMember(actor: Actor, personId: string): Promise<ResetLink> {
    if (!isUuid(personId)) throw Failure.notFound('Member')
    return this.#deps.store.write(async (stores) => {
      const person = await stores.people.findById(personId)
      const memberships = await stores.memberships.listOfPerson(personId)
      const own = memberships.find(({ workspace_id }) => workspace_id === actor.workspaceId)
      if (person === undefined || own === undefined) throw Failure.notFound('Member')
      if (own.role === 'owner') requirePermission(actor, 'owners.edit')
      if (person.is_operator || memberships.length > 1) {
        throw Failure.missingRole(
          'This person can do more than what is in this workspace, so an operator of the instance has to make the link.',
        )
      }
      await stores.oneTimeLinks.deleteResetsOf(personId)
      return this.#insert(stores, actor, personId, HANDED_OVER_MICROS)
    })
  }

  async #insert(
    stores: ResetLinkStores,
    author: EventAuthor,
    personId: string,
    lifetimeMicros: number,
  ): Promise<ResetLink> {
    const person = await stores.people.findById(personId)
    if (person === undefined) throw Failure.notFound('Person')
    const made = await createOneTimeLink(
      this.#deps,
      stores.oneTimeLinks,
      { ...NO_SUBJECT, kind: 'reset', person_id: personId, created_by: author.name },
      lifetimeMicros,
    )
    const event = { type: 'password_reset.created', subjectId: personId } as const
    const now = this.#deps.clock.nowMicros()
    await stores.events.append(author, { ...event, before: null, after: {} }, now)
    return made
  }
}

/** Browsers do not send what is behind `#`, so no log has the code. */
export function resetAddress(baseUrl: string, code: string): string {
  return `${baseUrl}/app/reset#code=${code}`
}
