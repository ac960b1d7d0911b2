import type { ChallengeType } from './certificate-authority.ts'

/** Our account with a certificate authority, and how things stand with it. */
export type AcmeAccount = {
  /** The address of the authority's directory. */
  readonly directory: string
  readonly sealedKey: string
  /** Null until the authority has confirmed it. */
  readonly url: string | null
  /** How often in a row the authority was not there for us. */
  readonly failures: number
  /** Until when it is left alone. Microseconds since the epoch. */
  readonly pausedUntil: number
  /** What it last failed with; null while all is well. */
  readonly failure: string | null
  /** By what kind of challenge it last saw a host to be ours. */
  readonly challenge: ChallengeType | null
}

/** One account for each authority that this instance has ever used. */
export type AcmeAccountStore = {
  find(directory: string): Promise<AcmeAccount | undefined>
  /** Keeps a new account's key; nothing when there is one already. */
  insert(directory: string, sealedKey: string, now: number): Promise<void>
  /** @param url null for one that the authority does not know any more */
  setUrl(directory: string, url: string | null): Promise<void>
  /** Leaves the authority alone for a while. False when somebody else has done so since `failures`. */
  pause(
    directory: string,
    failures: number,
    pause: { readonly until: number; readonly failure: string },
  ): Promise<boolean>
  /** All is well again. */
  resume(directory: string): Promise<void>
  setChallenge(directory: string, challenge: ChallengeType): Promise<void>
}
