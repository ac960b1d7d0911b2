import type { ChallengeType } from './certificate-authority.ts'

/** This instance's account with a certificate authority, and its state. */
export type AcmeAccount = {
  /** The URL of the authority's directory. */
  readonly directory: string
  readonly sealedKey: string
  /** Null until the account is registered. */
  readonly url: string | null
  /** Failures of the authority in a row. */
  readonly failures: number
  /** No request is sent before this instant. Microseconds since the epoch. */
  readonly pausedUntil: number
  /** The last failure; null when there is none. */
  readonly failure: string | null
  /** The type of the challenge that succeeded last. */
  readonly challenge: ChallengeType | null
}

/** One account for each authority that this instance has used. */
export type AcmeAccountStore = {
  find(directory: string): Promise<AcmeAccount | undefined>
  /** Inserts a new account; does nothing when there is one. */
  insert(directory: string, sealedKey: string, now: number): Promise<void>
  /** @param url null when the authority no longer knows the account */
  setUrl(directory: string, url: string | null): Promise<void>
  /** Starts a pause. False when the count of failures is no longer `failures`. */
  pause(
    directory: string,
    failures: number,
    pause: { readonly until: number; readonly failure: string },
  ): Promise<boolean>
  /** Ends a pause and resets the failures. */
  resume(directory: string): Promise<void>
  setChallenge(directory: string, challenge: ChallengeType): Promise<void>
}
