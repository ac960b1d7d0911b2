import { type ChangeLog, sessionChange } from '../../platform/changes/changes.ts'
import { isUuid, type Random, uuidV7 } from '../../platform/crypto/random.ts'
import type { Store } from '../../platform/database/store.ts'
import type { EventAuthor, EventWriter } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { PersonStore } from '../people/store/person-store.ts'
import { expiryOf, type Session } from './session.ts'
import { generateSessionSecret, hashSessionSecret } from './session-secret.ts'
import type { SessionStore } from './store/session-store.ts'

/**
 * The most sessions of one person. A further sign-in ends the session that was not used for
 * longest.
 */
const SESSIONS_MAX = 100

/** The stores of a request that ends sessions: it must not come from one that has ended itself. */
type EndingStores = SessionWriteStores & { readonly people: Pick<PersonStore, 'lock'> }

export type SessionWriteStores = {
  readonly sessions: SessionStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** A session with its secret, which is kept nowhere. */
export type OpenedSession = { readonly session: Session; readonly secret: string }

/** Starts, lists and ends the sessions of people. */
export class Sessions {
  readonly #store: Store<EndingStores>
  readonly #clock: Clock
  readonly #random: Random

  constructor(deps: { store: Store<EndingStores>; clock: Clock; random: Random }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#random = deps.random
  }

  /** Starts a session within a transaction. The author is the person. */
  async start(
    stores: SessionWriteStores,
    author: EventAuthor,
    personId: string,
    device: string,
  ): Promise<OpenedSession> {
    const now = this.#clock.nowMicros()
    const session: Session = {
      id: uuidV7(this.#clock, this.#random),
      person_id: personId,
      device,
      created_at: now,
      authenticated_at: now,
      last_seen_at: now,
    }
    const secret = generateSessionSecret(this.#random, personId)
    await stores.sessions.insert(session, hashSessionSecret(secret))
    await stores.sessions.deleteBeyond(personId, SESSIONS_MAX)
    await stores.changes.append(sessionChange(personId), now)
    const event = { type: 'session.created', subjectId: session.id, before: null } as const
    await stores.events.append(author, { ...event, after: { device } }, now)
    return { session, secret }
  }

  /**
   * Gives a session a new secret within a transaction, after the person has proved again who they are.
   *
   * @throws {Failure} `unauthorized` when it has ended meanwhile
   */
  async renew(stores: SessionWriteStores, session: Session): Promise<OpenedSession> {
    const now = this.#clock.nowMicros()
    const secret = generateSessionSecret(this.#random, session.person_id)
    const hasRenewed = await stores.sessions.renew(session.id, hashSessionSecret(secret), now)
    if (!hasRenewed) throw Failure.unauthorized({ code: 'session_ended' })
    await stores.changes.append(sessionChange(session.person_id), now)
    return { session: { ...session, authenticated_at: now }, secret }
  }

  /** Returns a person's sessions that have not expired, the last used first. */
  async list(personId: string): Promise<readonly Session[]> {
    const now = this.#clock.nowMicros()
    const stored = await this.#store.read.sessions.listOfPerson(personId)
    return stored.filter((session) => expiryOf(session) > now)
  }

  /**
   * @param by the session of the request, where it is another
   * @throws {Failure} `not_found` for a session of another person, too; `unauthorized` where `by` has ended
   */
  async end(author: EventAuthor, personId: string, id: string, by?: string): Promise<void> {
    const notFound = Failure.notFound(`Session "${id}"`)
    if (!isUuid(id)) throw notFound
    await this.#store.write(async (stores) => {
      await stores.people.lock(personId)
      if (by !== undefined) await requireSession(stores, personId, by)
      if (!(await stores.sessions.delete(personId, id))) throw notFound
      await this.#noteEnd(stores, author, personId, [id])
    })
  }

  /**
   * Ends all sessions of a person except the request's own.
   *
   * @throws {Failure} `unauthorized` where the request's own session has ended
   */
  async endOthers(author: EventAuthor, personId: string, keptId: string): Promise<void> {
    await this.#store.write(async (stores) => {
      await stores.people.lock(personId)
      await requireSession(stores, personId, keptId)
      const ended = await stores.sessions.deleteOthers(personId, keptId)
      await this.#noteEnd(stores, author, personId, ended)
    })
  }

  async #noteEnd(
    { changes, events }: SessionWriteStores,
    author: EventAuthor,
    personId: string,
    ids: readonly string[],
  ): Promise<void> {
    const now = this.#clock.nowMicros()
    await changes.append(sessionChange(personId), now)
    for (const subjectId of ids) {
      const event = { type: 'session.ended', subjectId, before: {}, after: null } as const
      await events.append(author, event, now)
    }
  }
}

/**
 * Checks within a transaction that has locked the person that a session has not ended since the request was
 * authenticated: what has ended it must not be undone by a way in that is added at the same moment.
 *
 * @throws {Failure} `unauthorized`
 */
export async function requireSession(
  { sessions }: { readonly sessions: Pick<SessionStore, 'has'> },
  personId: string,
  sessionId: string,
): Promise<void> {
  if (await sessions.has(personId, sessionId, 'share')) return
  throw Failure.unauthorized({ code: 'session_ended' })
}
