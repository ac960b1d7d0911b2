import { isUuid, type Random } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { DropReason, Mailer } from '../../platform/mail/mailer.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type EventAuthor, INSTANCE } from '../../storage/event-log.ts'
import type { Store } from '../../storage/store.ts'
import { type Actor, personActor, systemActor } from '../actor.ts'
import {
  type ActingStores,
  findGranted,
  type GrantStores,
  type JudgeStores,
  type Maker,
  memberResetFault,
  requireActor,
} from '../grants.ts'
import { type MailLanguage, passwordResetMail } from '../mails.ts'
import { createOneTimeLink, hashCode, madeBy, NO_SUBJECT } from '../one-time-links.ts'
import type { Identity, Passkey } from '../store/credential-store.ts'
import type { FoundLink, OneTimeLink } from '../store/one-time-link-store.ts'
import {
  type AccessStores,
  type ConfirmedAccess,
  dropUnconfirmed,
  proveAddress,
} from './addresses.ts'
import type { PasswordWriteStores, PeoplePasswords } from './passwords.ts'
import { foldEmail, type Person } from './person.ts'

type ResetStores = PasswordWriteStores & JudgeStores & AccessStores

/** What signs in as a person besides the password, before a new one is set. */
export type ResetDetails = {
  readonly passkeys: readonly Passkey[]
  readonly identities: readonly Identity[]
  /** False where the link proves the address for the first time, which removes all of them. */
  readonly mayKeep: boolean
}

/** Mails to one account. */
export const RESET_MAIL_LIMITS = { limit: 3, windowSeconds: 60 * 60, keysMax: 100_000 } as const
/** Requests of one address. */
export const RESET_REQUEST_LIMITS = { limit: 20, windowSeconds: 60 * 60, keysMax: 100_000 } as const
/** Requests whose account is being looked up. */
const UNDER_WAY_MAX = 100

const forgottenPassword = systemActor('forgotten password')(INSTANCE)

/** Sets new passwords for people who have forgotten theirs. */
export class PasswordResets {
  readonly #deps: {
    readonly store: Store<ResetStores>
    readonly clock: Clock
    readonly passwords: PeoplePasswords
    readonly resetLinks: ResetLinks
    /** Undefined when no mail is sent. */
    readonly mailer: Mailer | undefined
    /** Called when a mail to a person is given up. */
    readonly onMailDropped: (personId: string, reason: DropReason) => Promise<void>
    /** For `RESET_MAIL_LIMITS`. */
    readonly mailsPerAccount: Throttle
    /** For `RESET_REQUEST_LIMITS`. */
    readonly requestsPerAddress: Throttle
    readonly baseUrl: string
    readonly onError: (error: unknown) => void
  }
  #underWay = 0

  constructor(deps: {
    store: Store<ResetStores>
    clock: Clock
    passwords: PeoplePasswords
    resetLinks: ResetLinks
    mailer: Mailer | undefined
    onMailDropped: (personId: string, reason: DropReason) => Promise<void>
    mailsPerAccount: Throttle
    requestsPerAddress: Throttle
    baseUrl: string
    onError: (error: unknown) => void
  }) {
    this.#deps = deps
  }

  /**
   * Accepts a request for a link by mail, and returns before the account is looked up: neither answer nor time
   * says whether there is one.
   *
   * @param address as `subscriberOf`
   * @throws {Failure} `validation_failed` where no mail is sent; `rate_limited` for the address; `unavailable`
   */
  request(email: string, address: string, language: MailLanguage): void {
    const { mailer, store, requestsPerAddress } = this.#deps
    if (mailer === undefined) {
      throw Failure.invalid({ email: [{ code: 'no_mail' }] })
    }
    const verdict = requestsPerAddress.take(address)
    if (!verdict.allowed) {
      throw Failure.tooMany('Too many requests for a new password.', verdict.resetSeconds)
    }
    if (!store.isAvailable()) throw Failure.unavailable(new Error('no mail without the database'))
    if (this.#underWay >= UNDER_WAY_MAX) {
      throw Failure.tooMany('Too many people ask for a new password at the moment.')
    }
    this.#underWay += 1
    this.#mail(email, language, mailer)
      .catch(this.#deps.onError)
      .finally(() => {
        this.#underWay -= 1
      })
  }

  /**
   * Sets the password with the code of a link, and ends all sessions and what assistants may do. Passkeys and accounts
   * with the provider that the person does not confirm are removed; an authenticator app stays. A mailed code proves the
   * address: at the first proof everything else is removed.
   *
   * @param confirmed what the person says is theirs
   * @throws {Failure} `validation_failed` for a password that the rules refuse, and for a code that is not open; the
   *   same where the maker of the link may no longer make one
   */
  async complete(
    code: string,
    text: string,
    confirmed: ConfirmedAccess,
    requestId: string,
  ): Promise<void> {
    const { store, clock, passwords } = this.#deps
    const hash = hashCode(code)
    const { person } = await this.#find(store.read, hash, false)
    const password = await passwords.prepare(person, text)
    const author = { ...personActor(person, undefined, true), requestId }
    await store.write(async (stores) => {
      await stores.people.lock(person.id)
      const { link, person: current } = await this.#find(stores, hash, true)
      const now = clock.nowMicros()
      if ((await stores.oneTimeLinks.use('reset', hash, now)) === undefined) throw wrongCode()
      const change = { author, person: current, now }
      const isFirstProof = link.is_mailed && (await proveAddress(stores, change))
      const isOfOperator = !link.is_mailed && link.workspace_id === null
      if (!isFirstProof) await dropUnconfirmed(stores, change, confirmed, isOfOperator)
      await stores.assistants.deleteAll(person.id)
      await passwords.set(stores, author, person.id, { password, keptSessionId: undefined, now })
    })
  }

  /**
   * Reads what signs in as the person besides the password, without using the link.
   *
   * @throws {Failure} `validation_failed` as `complete`
   */
  async lookUp(code: string): Promise<ResetDetails> {
    const { read } = this.#deps.store
    const { link, person } = await this.#find(read, hashCode(code), false)
    const [passkeys, identities] = await Promise.all([
      read.passkeys.list(person.id),
      read.identities.list(person.id),
    ])
    const mayKeep = !link.is_mailed || person.email_proved_at !== null
    return { passkeys, identities, mayKeep }
  }

  /** @throws {Failure} `validation_failed` for a link that is not open, or whose maker may no longer make one */
  async #find(
    stores: ResetStores,
    hash: string,
    isUse: boolean,
  ): Promise<{ readonly link: FoundLink; readonly person: Person }> {
    const at = { nowMicros: this.#deps.clock.nowMicros(), isUse }
    const link = await findGranted(stores, 'reset', hash, at)
    const person = link?.person_id ? await stores.people.findById(link.person_id) : undefined
    if (link === undefined || person === undefined) throw wrongCode()
    return { link, person }
  }

  async #mail(email: string, language: MailLanguage, mailer: Mailer): Promise<void> {
    const { store, resetLinks, mailsPerAccount, onMailDropped, baseUrl } = this.#deps
    const found = await store.read.people.findForSignIn(foldEmail(email))
    if (found === undefined || found.sealedPassword === null) return
    const { person } = found
    if (person.disabled_at !== null || !mailsPerAccount.take(person.id).allowed) return
    const { code } = await resetLinks.createForMail(forgottenPassword, person)
    const url = resetAddress(baseUrl, code)
    const host = new URL(baseUrl).hostname
    mailer.send(passwordResetMail({ to: person.email, host, url }, language), {
      kind: 'password_reset',
      owner: person.id,
      onDropped: (reason) => onMailDropped(person.id, reason),
    })
  }
}

function wrongCode(): Failure {
  return Failure.invalid({ code: [{ code: 'invalid_code', reason: 'reset' }] })
}

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
