/** Thrown to a request for which the person was asked to sign in, and closed the dialog. */
export class SignInCancelled extends Error {}
