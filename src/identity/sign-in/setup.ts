import { type Random, uuidV7 } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type EventAuthor,
  type EventWriter,
  INSTANCE,
  type NewEvent,
} from '../../storage/event-log.ts'
import type { Store } from '../../storage/store.ts'
import { personActor, systemActor } from '../actor.ts'
import { createOneTimeLink, hashCode, madeBy, NO_SUBJECT } from '../one-time-links.ts'
import type { PeoplePasswords } from '../people/passwords.ts'
import {
  foldEmail,
  type Person,
  parseEmail,
  personCreated,
  requirePersonName,
} from '../people/person.ts'
import type { PasswordStore } from '../store/credential-store.ts'
import type { MembershipStore } from '../store/membership-store.ts'
import type { OneTimeLinkStore } from '../store/one-time-link-store.ts'
import type { PersonStore } from '../store/person-store.ts'
import type { OpenedSession, Sessions, SessionWriteStores } from './sessions.ts'

type SetupStores = SessionWriteStores & {
  readonly people: PersonStore
  readonly passwords: PasswordStore
  readonly memberships: MembershipStore
  readonly oneTimeLinks: OneTimeLinkStore
}

type SetupInput = {
  readonly code: string
  readonly email: string
  readonly name: string
  readonly password: string
}

type SetupDependencies = {
  readonly store: Store<SetupStores>
  readonly clock: Clock
  readonly random: Random
  readonly passwords: PeoplePasswords
  readonly sessions: Sessions
}

/** Sets up the first person of the instance. */
export class Setup {
  readonly #deps: SetupDependencies

  constructor(deps: SetupDependencies) {
    this.#deps = deps
  }

  /**
   * Creates the person as operator of the instance and owner of every workspace without one, and signs in.
   *
   * @throws {Failure} `validation_failed`, also for a code that is not open and once there is a person
   */
  async complete(
    input: SetupInput,
    { device, requestId }: { device: string; requestId: string },
  ): Promise<OpenedSession> {
    const email = parseEmail(input.email)
    if ('fault' in email) throw Failure.invalid({ email: [email.fault] })
    const now = this.#deps.clock.nowMicros()
    const person: Person = {
      id: uuidV7(this.#deps.clock, this.#deps.random),
      email: email.value,
      email_folded: foldEmail(email.value),
      name: requirePersonName(input.name, email.value),
      is_operator: true,
      created_at: now,
      disabled_at: null,
      email_proved_at: null,
    }
    const hash = hashCode(input.code)
    await this.#requireOpen(this.#deps.store.read, hash)
    const password = await this.#deps.passwords.prepare(person, input.password)
    const author = { ...personActor(person, undefined, true), requestId }
    return this.#deps.store.write(async (stores) => {
      await stores.people.lockFirst()
      await this.#requireOpen(stores, hash)
      await stores.oneTimeLinks.use('setup', hash, now)
      await insertFirstPerson(stores, author, person)
      await stores.passwords.set(person.id, { ...password, changed_at: now })
      return this.#deps.sessions.start(stores, author, person.id, device)
    })
  }

  /** @throws {Failure} `validation_failed` when the code is not open, or there is a person */
  async #requireOpen(
    { people, oneTimeLinks }: Pick<SetupStores, 'people' | 'oneTimeLinks'>,
    hash: string,
  ): Promise<void> {
    if (!(await people.isEmpty())) throw setUpAlready()
    const link = await oneTimeLinks.findOpen('setup', hash, this.#deps.clock.nowMicros())
    if (link !== undefined) return
    throw Failure.invalid({ code: [{ code: 'invalid_code', reason: 'setup' }] })
  }
}

const LIFETIME_MICROS = 24 * 60 * 60 * 1_000_000

type SetupLinkStores = {
  readonly people: PersonStore
  readonly oneTimeLinks: OneTimeLinkStore
}

/** Makes the codes with which the first person is set up. */
export class SetupLinks {
  readonly #deps: { store: Store<SetupLinkStores>; clock: Clock; random: Random }

  constructor(deps: { store: Store<SetupLinkStores>; clock: Clock; random: Random }) {
    this.#deps = deps
  }

  /** Whether the first person has yet to be set up. */
  isRequired(): Promise<boolean> {
    return this.#deps.store.read.people.isEmpty()
  }

  /**
   * Returns the code of a new link. Earlier ones stay valid.
   *
   * @throws {Failure} `validation_failed` once there is a person
   */
  create(by: string): Promise<string> {
    return this.#deps.store.write(async (stores) => {
      await stores.people.lockFirst()
      if (!(await stores.people.isEmpty())) throw setUpAlready()
      return this.#insert(stores, by)
    })
  }

  /** Returns the code of a new link; undefined once there is a person, and while another link is open. */
  createUnlessOpen(by: string): Promise<string | undefined> {
    return this.#deps.store.write(async (stores) => {
      await stores.people.lockFirst()
      if (!(await stores.people.isEmpty())) return undefined
      const now = this.#deps.clock.nowMicros()
      if (await stores.oneTimeLinks.hasOpen('setup', now)) return undefined
      return this.#insert(stores, by)
    })
  }

  async #insert({ oneTimeLinks }: SetupLinkStores, by: string): Promise<string> {
    const maker = madeBy(systemActor(by)(INSTANCE))
    const link = { ...NO_SUBJECT, kind: 'setup', ...maker } as const
    const { code } = await createOneTimeLink(this.#deps, oneTimeLinks, link, LIFETIME_MICROS)
    return code
  }
}

/** The page that sets up the first person. Browsers do not send what is behind `#`, so no log has the code. */
export function setupAddress(baseUrl: string, code: string): string {
  return `${baseUrl}/app/setup#code=${code}`
}

function setUpAlready(): Failure {
  return Failure.invalid({ code: [{ code: 'already_set_up' }] })
}

type FirstPersonStores = {
  readonly people: PersonStore
  readonly memberships: MembershipStore
  readonly events: EventWriter
}

/**
 * Inserts the first person, within a transaction that has locked and checked that there is none, as owner of
 * every workspace without one.
 */
export async function insertFirstPerson(
  { people, memberships, events }: FirstPersonStores,
  author: EventAuthor,
  person: Person,
): Promise<void> {
  const { id, created_at: now } = person
  await people.insert(person)
  await events.append(author, personCreated(person), now)
  for (const workspaceId of await memberships.workspacesWithoutOwner()) {
    const membership = { workspace_id: workspaceId, person_id: id, role: 'owner' } as const
    await memberships.insert({ ...membership, created_at: now, source: 'hand' })
    await events.append({ ...author, workspaceId }, ownerAdded(person), now)
  }
}

function ownerAdded({ id, email }: Person): NewEvent {
  return { type: 'member.added', subjectId: id, before: null, after: { email, role: 'owner' } }
}
