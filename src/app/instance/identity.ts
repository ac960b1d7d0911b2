import { AcceptInvitation, INVITATION_LIMITS } from '../../identity/members/invitations.ts'
import { PeoplePasswords } from '../../identity/people/passwords.ts'
import { People } from '../../identity/people/people.ts'
import { answerSessions } from '../../identity/present.ts'
import { SessionCookie } from '../../identity/sign-in/session.ts'
import { type SessionCache, Sessions } from '../../identity/sign-in/sessions.ts'
import { Setup } from '../../identity/sign-in/setup.ts'
import { SignIn, SignInLimits } from '../../identity/sign-in/sign-in.ts'
import { systemRandom } from '../../platform/crypto/random.ts'
import { type AppContext, peopleVaultOf } from './app-context.ts'
import { openMail } from './mail.ts'
import { openOidc } from './oidc.ts'
import { openPeople } from './people.ts'
import { openSecondFactors } from './second-factors.ts'

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
