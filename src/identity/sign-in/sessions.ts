import { isUuid, type Random, uuidV7 } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type Change,
  type ChangeListener,
  type ChangeLog,
  sessionChange,
} from '../../storage/changes.ts'
import { type CacheUse, CoherentCache } from '../../storage/coherent-cache.ts'
import type { EventAuthor, EventWriter } from '../../storage/event-log.ts'
import type { Store } from '../../storage/store.ts'
import type { Person } from '../people/person.ts'
import type { MembershipStore, NamedMembership } from '../store/membership-store.ts'
import type { PersonStore } from '../store/person-store.ts'
import type { SessionStore } from '../store/session-store.ts'
import {
  expiryOf,
  generateSessionSecret,
  hashSessionSecret,
  personOfSecret,
  type Session,
} from './session.ts'

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

/** How exact `last_seen_at` is: one write per session and minute of each process. */
const USE_RESOLUTION_MICROS = 60 * 1_000_000
/** People, sessions and memberships that are cached in all. */
const ROWS_MAX = 100_000

/** A person who is signed in. */
export type SignedIn = {
  readonly session: Session
  readonly person: Person
  /** By the workspaces' names. */
  readonly memberships: readonly NamedMembership[]
}

type KnownSession = { session: Session }

type KnownPerson = {
  readonly person: Person
  readonly memberships: readonly NamedMembership[]
  /** By the hash of the secret. */
  readonly sessions: ReadonlyMap<string, KnownSession>
}

type SessionCacheStores = {
  readonly people: PersonStore
  readonly memberships: MembershipStore
  readonly sessions: SessionStore
}

/** Finds who is signed in by the secret of a session: cached, or else in the store. */
export class SessionCache implements ChangeListener {
  readonly #store: Store<SessionCacheStores>
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #known: CoherentCache<KnownPerson>

  /** @param deps.onError called when a session's last use could not be written, which fails no request */
  constructor(deps: {
    store: Store<SessionCacheStores>
    clock: Clock
    onError: (error: unknown) => void
  }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#onError = deps.onError
    this.#known = new CoherentCache<KnownPerson>({
      sizeMax: ROWS_MAX,
      sizeOf: ({ memberships, sessions }) => 1 + memberships.length + sessions.size,
      load: (personId) => this.#load(personId),
    })
  }

  get use(): CacheUse {
    return this.#known.use
  }

  /** Returns undefined where the secret belongs to no session, or to one that has ended. */
  async find(secret: string): Promise<SignedIn | undefined> {
    const personId = personOfSecret(secret)
    if (personId === undefined) return undefined
    const hash = hashSessionSecret(secret)
    const found = this.#valid(await this.#known.get(personId), hash)
    if (found !== 'expired') return found
    // The person may have used another node since this one has cached the session.
    this.#known.forget(personId)
    const renewed = this.#valid(await this.#known.get(personId), hash)
    return renewed === 'expired' ? undefined : renewed
  }

  apply(changes: readonly Change[]): void {
    for (const { kind, subject } of changes) if (kind === 'session') this.#known.forget(subject)
  }

  forgetAll(): void {
    this.#known.forgetAll()
  }

  forgetAbsences(): void {
    this.#known.forgetAbsences()
  }

  #valid(known: KnownPerson | undefined, hash: string): SignedIn | 'expired' | undefined {
    const entry = known?.sessions.get(hash)
    if (known === undefined || entry === undefined || known.person.disabled_at !== null) {
      return undefined
    }
    const now = this.#clock.nowMicros()
    if (expiryOf(entry.session) <= now) return 'expired'
    this.#noteUse(entry, now)
    return { session: entry.session, person: known.person, memberships: known.memberships }
  }

  #noteUse(entry: KnownSession, now: number): void {
    const { session } = entry
    if (now - session.last_seen_at < USE_RESOLUTION_MICROS) return
    entry.session = { ...session, last_seen_at: now }
    this.#store
      .write((stores) => stores.sessions.noteUse(session.id, now))
      .catch((error) => {
        entry.session = session
        this.#onError(error)
      })
  }

  async #load(personId: string): Promise<KnownPerson | undefined> {
    const { people, memberships, sessions } = this.#store.read
    const [person, joined, stored] = await Promise.all([
      people.findById(personId),
      memberships.listOfPerson(personId),
      sessions.listOfPerson(personId),
    ])
    if (person === undefined) return undefined
    return {
      person,
      memberships: joined,
      sessions: new Map(stored.map(({ hash, ...session }) => [hash, { session }])),
    }
  }
}
