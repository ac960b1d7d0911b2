import { oneOf, Preference } from './preference.ts'

/** How the last person signed in with this browser: the way that is offered first. */
export const lastSignIn = new Preference('last-sign-in', oneOf('password', 'passkey', 'oidc'))
