import type { Fault } from '@terse/contract/faults'
import type { ServiceHost } from '../hosts/index.ts'
import type { Actor } from '../identity/index.ts'
import type { Random } from '../platform/crypto/random.ts'
import { Failure } from '../platform/failure.ts'
import { type Store, TooManyVariants, UniqueViolation } from '../storage/store.ts'
import {
  GENERATE_ATTEMPTS_MAX,
  generateKey,
  KEY_TAKEN,
  KEY_VARIANTS_MAX,
  keyTaken,
  parseKey,
  reservationOf,
} from './key.ts'
import { parseLinkHost } from './link-input.ts'
import type { LinkKeyspaces } from './link-keyspaces.ts'
import type { LinkStores } from './link-stores.ts'

const TOO_MANY_VARIANTS: Fault = { code: 'too_many_variants', max: KEY_VARIANTS_MAX }

/** Converts the store's errors about a link's key into a `validation_failed` of the field `key`. */
export function keyFaultOf(error: unknown): unknown {
  if (error instanceof UniqueViolation) return keyTaken()
  if (!(error instanceof TooManyVariants)) return error
  return tooManyVariants()
}

export function tooManyVariants(): Failure {
  return Failure.invalid({ key: [TOO_MANY_VARIANTS] })
}

/** Why a new link cannot have a key. */
type KeyFault = {
  readonly reason: 'taken' | 'reserved' | 'invalid' | 'too_many_variants'
  readonly fault: Fault
}

export type KeyAvailability = {
  readonly host: string
  /** In its stored form; as sent when it is invalid; undefined when none was sent. */
  readonly key: string | undefined
  readonly fault: KeyFault | undefined
  /** A generated key that is available. */
  readonly suggestion: string
}

const TAKEN: KeyFault = { reason: 'taken', fault: KEY_TAKEN }
const CROWDED: KeyFault = { reason: 'too_many_variants', fault: TOO_MANY_VARIANTS }

type Dependencies = {
  readonly store: Store<LinkStores>
  readonly random: Random
  readonly serviceHost: ServiceHost
  readonly keyspaces: LinkKeyspaces
}

/** Checks whether keys are available before a link is created. */
export class LinkKeys {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Costs a few index look-ups. Reserves nothing: another request may take the key first.
   *
   * @throws {Failure} `validation_failed` when the workspace must not have links on the domain
   */
  async check(actor: Actor, domain: string, text?: string): Promise<KeyAvailability> {
    const { store, serviceHost, keyspaces, random } = this.#deps
    const host = parseLinkHost(domain, serviceHost)
    if ('fault' in host) throw Failure.invalid({ domain: [host.fault] })
    const { keyspaceId } = await keyspaces.findAllowed(store.read, actor, host.value)
    const at = { host: host.value, suggestion: await this.#suggest(random, keyspaceId) }
    if (text === undefined) return { ...at, key: undefined, fault: undefined }
    const parsed = parseKey(text)
    if ('fault' in parsed) {
      return { ...at, key: text, fault: { reason: 'invalid', fault: parsed.fault } }
    }
    const key = parsed.value
    const fault = keyspaceId === serviceHost.keyspaceId ? reservationOf(key, actor) : undefined
    if (fault !== undefined) return { ...at, key, fault: { reason: 'reserved', fault } }
    return { ...at, key, fault: await this.#faultOf(keyspaceId, key) }
  }

  async #faultOf(keyspaceId: number | undefined, key: string): Promise<KeyFault | undefined> {
    if (keyspaceId === undefined) return undefined
    const { store } = this.#deps
    const state = await store.read.links.findKeyState(keyspaceId, key, KEY_VARIANTS_MAX)
    return state === 'free' ? undefined : state === 'taken' ? TAKEN : CROWDED
  }

  async #suggest(random: Random, keyspaceId: number | undefined): Promise<string> {
    for (let attempt = 0; attempt < GENERATE_ATTEMPTS_MAX; attempt += 1) {
      const key = generateKey(random)
      if ((await this.#faultOf(keyspaceId, key)) === undefined) return key
    }
    throw new Error(`${GENERATE_ATTEMPTS_MAX} generated keys in a row were taken`)
  }
}
