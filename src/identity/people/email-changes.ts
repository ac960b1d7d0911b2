import { sessionChange } from '../../platform/changes/changes.ts'
import type { Random } from '../../platform/crypto/random.ts'
import { StaleRow, type Store, UniqueViolation } from '../../platform/database/store.ts'
import { changedFields, type EventAuthor } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { DropReason, Mailer } from '../../platform/mail/mailer.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { emailChangedMail, emailChangeMail } from '../mails/email-change-mails.ts'
import type { MailLanguage } from '../mails/mail-layout.ts'
import { hashCode } from '../one-time-links/one-time-code.ts'
import { madeBy, NO_SUBJECT } from '../one-time-links/one-time-link.ts'
import { createOneTimeLink } from '../one-time-links/one-time-links.ts'
import { requireSession } from '../sessions/sessions.ts'
import type { AccessChange } from './address-proof.ts'
import { foldEmail, parseEmail } from './email.ts'
import type { PasswordWriteStores } from './people-passwords.ts'
import type { Person } from './person.ts'
import type { PersonStore } from './store/person-store.ts'

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
