import type { FastifyRequest } from 'fastify'
import { systemActor } from '../../identity/actor.ts'
import { DEFAULT_MAIL_LANGUAGE, invitationMail, MAIL_LANGUAGES } from '../../identity/mails.ts'
import {
  AcceptInvitation,
  INVITATION_LIMITS,
  type Invitations,
} from '../../identity/members/invitations.ts'
import { type OidcAttempt, OidcAttempts, OidcProvider } from '../../identity/oidc/provider.ts'
import { CALLBACK_LIMITS, type Oidc } from '../../identity/oidc/routes.ts'
import { OidcSignIn, OwnIdentities } from '../../identity/oidc/sign-in.ts'
import { type Invitation, invitationAddress } from '../../identity/one-time-links.ts'
import { EMAIL_CHANGE_LIMITS, EmailChanges } from '../../identity/people/addresses.ts'
import {
  PasswordResets,
  RESET_MAIL_LIMITS,
  RESET_REQUEST_LIMITS,
  type ResetLinks,
} from '../../identity/people/password-resets.ts'
import { PeoplePasswords } from '../../identity/people/passwords.ts'
import { People } from '../../identity/people/people.ts'
import { answerSessions } from '../../identity/present.ts'
import {
  CodeLimits,
  FactorChecks,
  TotpSecrets,
} from '../../identity/second-factors/factor-checks.ts'
import { OwnFactors } from '../../identity/second-factors/own-factors.ts'
import { OwnPasskeys } from '../../identity/second-factors/own-passkeys.ts'
import {
  PasskeyCeremonies,
  PasskeyChallenges,
} from '../../identity/second-factors/passkey-ceremonies.ts'
import { SessionCookie } from '../../identity/sign-in/session.ts'
import { type SessionCache, Sessions } from '../../identity/sign-in/sessions.ts'
import { Setup } from '../../identity/sign-in/setup.ts'
import { SignIn, SignInLimits } from '../../identity/sign-in/sign-in.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { SealedCookie } from '../../platform/http/cookies/sealed-cookie.ts'
import { preferredLanguage } from '../../platform/http/preferred-language.ts'
import type { DropReason } from '../../platform/mail/mailer.ts'
import { SmtpMailer } from '../../platform/mail/smtp-mailer.ts'
import { type EventFields, INSTANCE } from '../../storage/event-log.ts'
import { deriveKey } from '../../storage/instance-keys.ts'
import { type AppContext, logUnexpected, peopleVaultOf } from './instance.ts'
import { openPeople } from './services.ts'

/** The services behind people, sessions and sign-in. */
export function openIdentity(context: AppContext, sessionCache: SessionCache) {
  const { config, instance, throttles } = context
  const { store, clock, setupLinks, workspaces, tokens } = instance
  const base = { store, clock, random: systemRandom }
  const { secondFactors, ...ownFactors } = openSecondFactors(context)
  const sessions = new Sessions(base)
  const passwords = new PeoplePasswords({ vault: peopleVaultOf(context), secondFactors })
  const limits = new SignInLimits(throttles)
  const sessionCookie = new SessionCookie(config.baseUrl.startsWith('https:'))
  const sendsMail = config.mail !== undefined
  const people = openPeople(instance, {
    throttle: throttles.create('invitations', INVITATION_LIMITS),
    sendsMail,
  })
  const acceptInvitation = new AcceptInvitation({ ...base, passwords, sessions, sendsMail })
  return {
    ...ownFactors,
    ...openOidc(context, { sessions, invitations: acceptInvitation }),
    ...openMail(context, { passwords, ...people }),
    sessionCache,
    sessionCookie,
    answerSession: answerSessions({ sessionCache, sessionCookie, baseUrl: config.baseUrl }),
    sessions,
    signIn: new SignIn({ store, clock, passwords, secondFactors, sessions, limits }),
    people: new People({ store, clock, passwords }),
    setup: new Setup({ ...base, passwords, sessions }),
    setupLinks,
    workspaces,
    tokens,
    ...people,
    acceptInvitation,
    trustedProxies: config.trustedProxies,
  }
}

/** For how long a browser keeps a challenge for a passkey. */
const CHALLENGE_SECONDS = 5 * 60

/** The services behind second factors. */
function openSecondFactors({ config, instance, throttles }: AppContext) {
  const { store, clock, instanceKey } = instance
  const { baseUrl } = config
  const random = systemRandom
  const secrets = new TotpSecrets({
    key: deriveKey(instanceKey, 'totp-secret'),
    random,
    issuer: new URL(baseUrl).hostname,
  })
  const cookie = new SealedCookie<{ readonly challenge: string }>({
    name: 'terse_challenge',
    key: deriveKey(instanceKey, 'passkey-challenge'),
    random,
    clock,
    isSecure: baseUrl.startsWith('https:'),
    lifetimeSeconds: CHALLENGE_SECONDS,
  })
  const challenges = new PasskeyChallenges(cookie, random)
  const ceremonies = new PasskeyCeremonies(baseUrl)
  const limits = new CodeLimits(throttles)
  const issuer = config.oidc?.issuer
  const recoveryKey = deriveKey(instanceKey, 'recovery-codes')
  const codes = { store, clock, secrets, recoveryKey, limits }
  return {
    secondFactors: new FactorChecks({ ...codes, challenges, ceremonies }),
    ownFactors: new OwnFactors({ ...codes, random }),
    ownPasskeys: new OwnPasskeys({ store, clock, random, challenges, ceremonies, issuer }),
    ownIdentities: new OwnIdentities({ store, clock, issuer }),
  }
}

/** For how long a person may be with the provider. */
const ATTEMPT_SECONDS = 10 * 60

/** Single sign-on, where it is configured, and the limit of its callbacks. */
function openOidc(
  { config, instance, throttles }: AppContext,
  { sessions, invitations }: { sessions: Sessions; invitations: AcceptInvitation },
) {
  const callbackThrottle = throttles.create('oidc-callbacks', CALLBACK_LIMITS)
  if (config.oidc === undefined) return { oidc: undefined, callbackThrottle }
  const { baseUrl, oidc: settings } = config
  const { store, clock, instanceKey } = instance
  const random = systemRandom
  const cookie = new SealedCookie<OidcAttempt>({
    name: 'terse_oidc',
    key: deriveKey(instanceKey, 'oidc-state'),
    random,
    clock,
    isSecure: baseUrl.startsWith('https:'),
    lifetimeSeconds: ATTEMPT_SECONDS,
  })
  const { roles, ownerEmail } = settings
  const client = { ...settings, needsGroups: roles.length > 0 }
  const oidc: Oidc = {
    name: settings.name,
    provider: new OidcProvider(client, `${baseUrl}/app/oidc/callback`),
    attempts: new OidcAttempts(cookie, random),
    signIn: new OidcSignIn({ store, clock, random, sessions, invitations, roles, ownerEmail }),
  }
  return { oidc, callbackThrottle }
}

const mailService = systemActor('mail')

/** Sends mail to people, in the language of the request that causes it. */
function openMail(
  { config, instance, throttles, log }: AppContext,
  services: { passwords: PeoplePasswords; resetLinks: ResetLinks; invitations: Invitations },
) {
  const { baseUrl, mail } = config
  const { store, clock } = instance
  const { passwords, resetLinks, invitations } = services
  const mailer = mail && new SmtpMailer({ url: mail.smtpUrl, from: mail.from, log })

  async function mailInvitation(
    code: string,
    invitedBy: string,
    { headers }: FastifyRequest,
  ): Promise<void> {
    const { invitation, workspaceTitle: workspace } = await invitations.lookUp(code)
    const language = preferredLanguage(
      headers['accept-language'],
      MAIL_LANGUAGES,
      DEFAULT_MAIL_LANGUAGE,
    )
    const host = new URL(baseUrl).hostname
    const url = invitationAddress(baseUrl, code)
    const content = { to: invitation.email, host, workspace, invitedBy, url }
    mailer?.send(invitationMail(content, language), {
      kind: 'invitation',
      owner: invitation.workspace_id,
      onDropped: (reason) => noteDroppedInvitation(invitation, reason),
    })
  }

  const noteDroppedInvitation = ({ workspace_id, id, email }: Invitation, reason: DropReason) =>
    noteDropped(workspace_id, id, { kind: 'invitation', email, reason })

  const noteDropped = (workspaceId: string, subjectId: string, after: EventFields) =>
    store
      .write(({ events }) => {
        const event = { type: 'mail.dropped', subjectId, before: null, after } as const
        return events.append(mailService(workspaceId), event, clock.nowMicros())
      })
      .catch(logUnexpected(log, 'event of a dropped mail'))

  return {
    mailer,
    mailInvitation: mailer && mailInvitation,
    emailChanges: new EmailChanges({
      store,
      clock,
      random: systemRandom,
      mailer,
      onMailDropped: (personId, reason) =>
        noteDropped(INSTANCE, personId, { kind: 'email_change', reason }),
      mailsPerAccount: throttles.create('email-changes', EMAIL_CHANGE_LIMITS),
      baseUrl,
    }),
    passwordResets: new PasswordResets({
      store,
      clock,
      passwords,
      resetLinks,
      mailer,
      onMailDropped: (personId, reason) =>
        noteDropped(INSTANCE, personId, { kind: 'password_reset', reason }),
      mailsPerAccount: throttles.create('reset-mails', RESET_MAIL_LIMITS),
      requestsPerAddress: throttles.create('reset-requests', RESET_REQUEST_LIMITS),
      baseUrl,
      onError: logUnexpected(log, 'password reset'),
    }),
  }
}
