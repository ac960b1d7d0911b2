import type { Random } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { DropReason, Mailer } from '../../platform/mail/mailer.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { sessionChange } from '../../storage/changes.ts'
import { changedFields, type EventAuthor } from '../../storage/event-log.ts'
import { StaleRow, type Store, UniqueViolation } from '../../storage/store.ts'
import { emailChangedMail, emailChangeMail, type MailLanguage } from '../mails.ts'
import { endGroupRoles, type GroupRoleStores } from '../oidc/group-roles.ts'
import { createOneTimeLink, hashCode, madeBy, NO_SUBJECT } from '../one-time-links.ts'
import type { OwnFactorStores } from '../second-factors/own-factors.ts'
import { factorState, hasSecondFactor } from '../second-factors/second-factors.ts'
import { requireSession } from '../sign-in/sessions.ts'
import { type Identity, identityIdOf, type Passkey } from '../store/credential-store.ts'
import type { PersonStore } from '../store/person-store.ts'
import type { PasswordWriteStores } from './passwords.ts'
import { foldEmail, type Person, parseEmail } from './person.ts'

/** The stores in which a person has ways to sign in. */
export type AccessStores = OwnFactorStores & GroupRoleStores

/** The account with the provider that stays, because the person uses it now. */
export type KeptIdentity = Pick<Identity, 'issuer' | 'subject'>

/** Who changes the ways in of whom, and when. */
export type AccessChange = {
  readonly author: EventAuthor
  readonly person: Person
  readonly now: number
}

/** What a person confirms with a new password, by identifiers as the API has them. */
export type ConfirmedAccess = {
  readonly passkeys: readonly string[]
  readonly identities: readonly string[]
}

/**
 * Notes, within a transaction that has locked the person, that the address is theirs: they sent a code that went to it by
 * mail alone, or the provider of single sign-on vouches for it. At the first proof, all earlier ways to sign in are
 * removed: the maker of the account may have left them there.
 *
 * @param kept the account with the provider with which the person proves the address
 * @returns whether it is the first proof
 */
export async function proveAddress(
  stores: AccessStores,
  change: AccessChange,
  kept?: KeptIdentity,
): Promise<boolean> {
  const { author, person, now } = change
  if (person.email_proved_at !== null) return false
  await dropAccess(stores, change, kept)
  await stores.people.update(person.id, { email_proved_at: now })
  const event = { type: 'person.updated', subjectId: person.id } as const
  const fields = { before: { is_email_proved: false }, after: { is_email_proved: true } }
  await stores.events.append(author, { ...event, ...fields }, now)
  return true
}

/**
 * Removes, within a transaction that has locked the person, all sessions, all that assistants may do, and all ways to
 * sign in as the person: passwords, second factors, accounts with the provider, links for a new password and open changes
 * of the address.
 *
 * @param kept the account with the provider that stays, because the person uses it now
 */
export async function dropAccess(
  stores: AccessStores,
  change: AccessChange,
  kept?: KeptIdentity,
): Promise<void> {
  const { author, person, now } = change
  const { id: subjectId } = person
  for (const passkey of await stores.passkeys.list(subjectId)) {
    await removePasskey(stores, change, passkey)
  }
  const keptId = kept && identityIdOf(kept)
  await removeIdentities(stores, change, (id) => id === keptId)
  if (await stores.totp.remove(subjectId)) {
    const event = { type: 'totp.deleted', subjectId, before: {}, after: null } as const
    await stores.events.append(author, event, now)
  }
  await stores.recoveryCodes.replace(subjectId, [])
  if (await stores.passwords.remove(subjectId)) {
    const event = { type: 'password.changed', subjectId, before: {} } as const
    await stores.events.append(author, { ...event, after: { password: 'removed' } }, now)
  }
  await stores.oneTimeLinks.deleteResetsOf(subjectId)
  await stores.oneTimeLinks.deleteEmailChangesOf(subjectId)
  await stores.sessions.deleteOthers(subjectId, undefined)
  await stores.assistants.deleteAll(subjectId)
  await stores.changes.append(sessionChange(subjectId), now)
}

/**
 * As `dropAccess`, for a person whose address is unproved and who is given more rights: the person who prepared the account must
 * not gain them. The person needs a link for a new password then.
 */
export async function dropUnproved(
  stores: AccessStores,
  author: EventAuthor,
  personId: string,
  now: number,
): Promise<void> {
  const person = await stores.people.findById(personId)
  if (person?.email_proved_at === null) await dropAccess(stores, { author, person, now })
}

/**
 * Removes, within a transaction that has locked the person and is to set a new password, the passkeys and accounts with
 * the provider that the person does not confirm. Without another second factor, passkeys stay as that alone: they no
 * longer sign in without the password, and a reader of the person's mail still needs one of them.
 *
 * @param mayDropLastFactor whether an operator vouches for the person
 */
export async function dropUnconfirmed(
  stores: AccessStores,
  change: AccessChange,
  confirmed: ConfirmedAccess,
  mayDropLastFactor: boolean,
): Promise<void> {
  const { id } = change.person
  await removeIdentities(stores, change, (each) => confirmed.identities.includes(each))
  const passkeys = await stores.passkeys.list(id)
  const unconfirmed = passkeys.filter((passkey) => !confirmed.passkeys.includes(passkey.id))
  const { hasTotp } = await factorState(stores, id)
  const isGuarded = hasTotp || unconfirmed.length < passkeys.length || mayDropLastFactor
  for (const passkey of unconfirmed) {
    if (isGuarded) await removePasskey(stores, change, passkey)
    else await stores.passkeys.setNeedsPassword(passkey.id, true)
  }
  if (!hasSecondFactor(await factorState(stores, id))) await stores.recoveryCodes.replace(id, [])
}

async function removePasskey(
  { passkeys, events }: AccessStores,
  { author, person, now }: AccessChange,
  { id: subjectId, name }: Passkey,
): Promise<void> {
  await passkeys.remove(person.id, subjectId)
  const event = { type: 'passkey.deleted', subjectId, before: { name }, after: null } as const
  await events.append(author, event, now)
}

/** With the last account go the roles that its groups gave. */
async function removeIdentities(
  stores: AccessStores,
  { author, person, now }: AccessChange,
  isKept: (id: string) => boolean,
): Promise<void> {
  const identities = await stores.identities.list(person.id)
  const removed = identities.filter((identity) => !isKept(identityIdOf(identity)))
  for (const { issuer, subject } of removed) {
    await stores.identities.remove({ issuer, subject })
    const event = { type: 'identity.deleted', subjectId: person.id, after: null } as const
    await stores.events.append(author, { ...event, before: { issuer } }, now)
  }
  if (removed.length === identities.length) await endGroupRoles(stores, person, now)
}

type EmailChangeStores = Pick<
  PasswordWriteStores,
  'oneTimeLinks' | 'sessions' | 'changes' | 'events'
> & { readonly people: PersonStore }

/** Who changes the own address, in which session. */
export type Changer = {
  readonly author: EventAuthor
  readonly person: Person
  readonly sessionId: string
}

/** Mails to new addresses, for one account. */
export const EMAIL_CHANGE_LIMITS = { limit: 3, windowSeconds: 60 * 60, keysMax: 100_000 } as const
const LIFETIME_MICROS = 60 * 60 * 1_000_000

type Dependencies = {
  readonly store: Store<EmailChangeStores>
  readonly clock: Clock
  readonly random: Random
  /** Undefined when no mail is sent. */
  readonly mailer: Mailer | undefined
  /** Called when a mail to a person is given up. */
  readonly onMailDropped: (personId: string, reason: DropReason) => Promise<void>
  /** For `EMAIL_CHANGE_LIMITS`. */
  readonly mailsPerAccount: Throttle
  readonly baseUrl: string
}

/**
 * Changes the addresses of people, who sign in with them. Where mail is sent, a code that went to the new address
 * confirms the change, which keeps a proved address proved. Without mail nothing shows whose the new one is: it is unproved.
 */
export class EmailChanges {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Sends a code to the new address, or changes the address at once where no mail is sent. With mail, the answer does not
   * say whether the address has an account: only a reader of its mail learns that.
   *
   * @throws {Failure} `validation_failed` for what is no address, and without mail for one that is taken; `rate_limited`;
   *   `unauthorized` where the session has ended meanwhile
   */
  async request(
    changer: Changer,
    text: string,
    language: MailLanguage,
  ): Promise<'mailed' | 'changed'> {
    const { mailer, mailsPerAccount } = this.#deps
    const { person } = changer
    const parsed = parseEmail(text)
    if ('fault' in parsed) throw Failure.invalid({ email: [parsed.fault] })
    const email = parsed.value
    // Another spelling of the same address needs no proof, and keeps the one that there is.
    const isSame = ({ email_folded }: Person) => foldEmail(email) === email_folded
    if (mailer === undefined || isSame(person)) {
      await this.#deps.store.write((stores) =>
        this.#change(stores, changer, {
          email,
          field: 'email',
          provedAtOf: (current) => (isSame(current) ? current.email_proved_at : null),
        }),
      )
      return 'changed'
    }
    const verdict = mailsPerAccount.take(person.id)
    if (!verdict.allowed) {
      throw Failure.tooMany('Too many e-mails to new addresses.', verdict.resetSeconds)
    }
    await this.#mailCode(changer, email, language, mailer)
    return 'mailed'
  }

  /**
   * Changes the address with the code that went to it, in a session of the person who has requested it.
   *
   * @throws {Failure} `validation_failed` for a code that is not open or belongs to another person, and for an address that has an
   *   account; `unauthorized` where the session has ended meanwhile
   */
  async confirm(changer: Changer, code: string, language: MailLanguage): Promise<void> {
    const { store, clock, mailer, onMailDropped, baseUrl } = this.#deps
    const { person } = changer
    const hash = hashCode(code)
    await store.write(async (stores) => {
      const now = clock.nowMicros()
      const link = await stores.oneTimeLinks.findOpen('email', hash, now)
      if (link?.person_id !== person.id || link.email === null || !link.is_mailed) throw wrongCode()
      if ((await stores.oneTimeLinks.use('email', hash, now)) === undefined) throw wrongCode()
      await this.#change(stores, changer, {
        email: link.email,
        field: 'code',
        // The code proves the address, but not who has prepared the account of an unproved person.
        provedAtOf: (current) => (current.email_proved_at === null ? null : now),
      })
    })
    const host = new URL(baseUrl).hostname
    const url = `${baseUrl}/app/sign-in`
    mailer?.send(emailChangedMail({ to: person.email, host, url }, language), {
      kind: 'email_change',
      owner: person.id,
      onDropped: (reason) => onMailDropped(person.id, reason),
    })
  }

  async #change(
    stores: EmailChangeStores,
    { author, person: { id }, sessionId }: Changer,
    change: {
      readonly email: string
      readonly field: string
      readonly provedAtOf: (current: Person) => number | null
    },
  ): Promise<void> {
    const { email, field, provedAtOf } = change
    await stores.people.lock(id)
    await requireSession(stores, id, sessionId)
    // The session may have been cached before the last change.
    const person = await stores.people.findById(id)
    if (person === undefined) throw Failure.notFound('Person')
    const now = this.#deps.clock.nowMicros()
    const to = { email, field, provedAt: provedAtOf(person), keptSessionId: sessionId }
    await changeEmail(stores, { author, person, now }, to)
  }

  async #mailCode(
    { person, sessionId }: Changer,
    email: string,
    language: MailLanguage,
    mailer: Mailer,
  ): Promise<void> {
    const { store, onMailDropped, baseUrl } = this.#deps
    const mailedCode = await store.write(async (stores) => {
      await stores.people.lock(person.id)
      await requireSession(stores, person.id, sessionId)
      await stores.oneTimeLinks.deleteEmailChangesOf(person.id)
      const link = {
        ...NO_SUBJECT,
        kind: 'email',
        person_id: person.id,
        email,
        email_folded: foldEmail(email),
        ...madeBy({ kind: 'person', id: person.id, name: person.name }),
      } as const
      return (await createOneTimeLink(this.#deps, stores.oneTimeLinks, link, LIFETIME_MICROS))
        .mailedCode
    })
    const host = new URL(baseUrl).hostname
    const url = emailChangeAddress(baseUrl, mailedCode)
    mailer.send(emailChangeMail({ to: email, host, url }, language), {
      kind: 'email_change',
      owner: person.id,
      onDropped: (reason) => onMailDropped(person.id, reason),
    })
  }
}

/**
 * Changes an address within a transaction that has locked the person. Ends the sessions but one, and what was mailed to the
 * former address.
 *
 * @param to.field of the request, for the fault
 * @param to.keptSessionId undefined to end all
 * @throws {Failure} `validation_failed` for an address that has an account
 */
export async function changeEmail(
  stores: EmailChangeStores,
  { author, person, now }: Pick<AccessChange, 'author' | 'person' | 'now'>,
  to: {
    readonly email: string
    readonly provedAt: number | null
    readonly field: string
    readonly keptSessionId: string | undefined
  },
): Promise<void> {
  const { email, provedAt, field, keptSessionId } = to
  const address = { email, email_folded: foldEmail(email) }
  const isFree = await stores.people.changeEmail(person.id, address).catch((error: unknown) => {
    // Another transaction has just taken it: the next run of this one finds that.
    throw error instanceof UniqueViolation ? new StaleRow() : error
  })
  if (!isFree) {
    throw Failure.invalid({ [field]: [{ code: 'taken', reason: 'email' }] })
  }
  await stores.people.update(person.id, { email_proved_at: provedAt })
  await stores.oneTimeLinks.deleteResetsOf(person.id)
  await stores.oneTimeLinks.deleteEmailChangesOf(person.id)
  await stores.sessions.deleteOthers(person.id, keptSessionId)
  await stores.changes.append(sessionChange(person.id), now)
  const fields = changedFields(
    { email: person.email, is_email_proved: person.email_proved_at !== null },
    { email, is_email_proved: provedAt !== null },
  )
  const event = { type: 'person.updated', subjectId: person.id, ...fields } as const
  await stores.events.append(author, event, now)
}

/** Browsers do not send what is behind `#`, so no log has the code. */
function emailChangeAddress(baseUrl: string, code: string): string {
  return `${baseUrl}/app/settings/profile#code=${code}`
}

function wrongCode(): Failure {
  return Failure.invalid({ code: [{ code: 'invalid_code', reason: 'reset' }] })
}
