import { type CacheUse, CoherentCache } from '../../platform/cache/coherent-cache.ts'
import type { Change, ChangeListener } from '../../platform/changes/changes.ts'
import type { Store } from '../../platform/database/store.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { NamedMembership } from '../members/membership.ts'
import type { MembershipStore } from '../members/store/membership-store.ts'
import type { Person } from '../people/person.ts'
import type { PersonStore } from '../people/store/person-store.ts'
import { expiryOf, type Session } from './session.ts'
import { hashSessionSecret, personOfSecret } from './session-secret.ts'
import type { SessionStore } from './store/session-store.ts'

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
