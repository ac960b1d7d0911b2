/** The service that the extension uses, and the credential for it. It never goes into the sync of the browser. */
export type Connection = { readonly origin: string } & (
  | { readonly kind: 'token'; readonly token: string }
  | {
      readonly kind: 'grant'
      readonly access: string
      /** Milliseconds since 1970. */
      readonly accessUntil: number
      readonly refresh: string
      readonly scopes: readonly string[]
    }
)

/** What the form begins with before the service has answered. */
export type Facts = {
  readonly workspace: string | null
  readonly domains: readonly string[]
  /** The parameter of short links that has the label of a visit; null where labels are off. */
  readonly label: string | null
}

/** What was typed for a page, until a link is made of it. */
export type Draft = {
  readonly address: string
  readonly domain: string
  readonly key: string
  readonly tags: readonly string[]
  readonly keepsTracking: boolean
}

/** A sign-in that has begun (OAuth 2.1): what the answer must match, and the secret by which the code is exchanged. */
export type PendingSignIn = {
  readonly origin: string
  readonly state: string
  readonly verifier: string
}

type Stored = {
  readonly connection: Connection
  readonly facts: Facts
  /** Where the last connection was, once it has ended. */
  readonly endedAt: string
}

type Passing = {
  readonly draft: Draft
  readonly signIn: PendingSignIn
  /** Why the last sign-in failed. */
  readonly signInFault: 'denied' | 'failed'
  /** Set by the command that makes a link and copies it, for the popup that it opens. */
  readonly atOnce: true
}

/** Kept on disk. */
export const stored = area<Stored>(() => chrome.storage.local)
/** Kept in memory until the browser ends. */
export const passing = area<Passing>(() => chrome.storage.session)

function area<Values extends object>(storage: () => chrome.storage.StorageArea) {
  return {
    async get<Name extends keyof Values & string>(name: Name): Promise<Values[Name] | undefined> {
      return (await storage().get(name))[name] as Values[Name] | undefined
    },
    set: (values: Partial<Values>): Promise<void> => storage().set(values),
    remove: (...names: (keyof Values & string)[]): Promise<void> => storage().remove(names),
  }
}

/**
 * Forgets the connection and what was read over it.
 *
 * @param endedAt the origin, if the service has ended the connection: the draft then stays for the next sign-in
 */
export async function forgetConnection(endedAt?: string): Promise<void> {
  await stored.remove('connection', 'facts', 'endedAt')
  if (endedAt === undefined) await passing.remove('draft')
  else await stored.set({ endedAt })
}
