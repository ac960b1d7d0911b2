import type { CompatResource } from '@terse/contract/compat'
import { COMPAT_SERVICES, type CompatService } from '@terse/contract/compat-services'
import {
  type ActingStores,
  type Actor,
  type Authenticator,
  COMPAT_PERMISSIONS,
  type CompatStore,
  requireActor,
  type SecretSealing,
  switchCompat,
} from '../identity/index.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { EventWriter } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'

/** Where the clients of each service find its API, below the address of this one. */
const PATHS: Readonly<Record<CompatService, string>> = {
  yourls: '/yourls-api.php',
  kutt: '/api/v2',
  shlink: '/rest/v3',
  bitly: '/v4',
  polr: '/api/v2',
}

const SECRETS_TRIED_MAX = 1_000

type CompatStores = ActingStores & { readonly compat: CompatStore; readonly events: EventWriter }

type Dependencies = {
  readonly store: Store<CompatStores>
  readonly clock: Clock
  readonly authenticator: Authenticator
  readonly secretSealing: SecretSealing
  readonly baseUrl: string
}

/** Which other services a workspace answers for, and who their clients are. */
export class Compat {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  async list({ workspaceId }: Actor): Promise<CompatResource[]> {
    const enabled = await this.#deps.store.read.compat.enabled(workspaceId)
    return COMPAT_SERVICES.map((service) => this.#present(service, enabled.has(service)))
  }

  /**
   * Switches the API of a service on or off for the actor's workspace. Its tokens stay, and work when it is on again.
   *
   * @throws {Failure} `not_found`; as `requireActor`
   */
  async enable(actor: Actor, name: string, isEnabled: boolean): Promise<CompatResource> {
    const { store, clock } = this.#deps
    const service = COMPAT_SERVICES.find((each) => each === name)
    if (service === undefined) throw Failure.notFound('Service')
    await store.write(async (stores) => {
      const now = clock.nowMicros()
      const current = await requireActor(stores, actor, 'compat.update', { nowMicros: now })
      await switchCompat(stores, current, { service, isEnabled }, now)
    })
    return this.#present(service, isEnabled)
  }

  /**
   * Returns who sends a token to the API of a service.
   *
   * @throws {Failure} `unauthorized` for a token that is not for this service, and where its API is switched off
   */
  async authenticate(service: CompatService, secret: string): Promise<Actor> {
    const { authenticator, store } = this.#deps
    const actor = await authenticator.authenticate(secret)
    const isFor = actor.compat === service
    const enabled = isFor && (await store.read.compat.enabled(actor.workspaceId)).has(service)
    if (!enabled) throw Failure.unauthorized({ code: 'invalid_token' })
    return { ...actor, permissions: COMPAT_PERMISSIONS }
  }

  /**
   * Returns the secret of the first token for YOURLS that fits: a client may send a hash of it and the time, which says
   * not which token it is. Only 1,000 of the instance are tried, the latest of each workspace first.
   */
  async findYourlsSecret(fits: (secret: string) => boolean): Promise<string | undefined> {
    const { store, clock, secretSealing } = this.#deps
    const secrets = await store.read.compat.listSecrets(SECRETS_TRIED_MAX, clock.nowMicros())
    for (const { token_id, sealed } of secrets) {
      const secret = secretSealing.unseal(token_id, sealed)
      if (secret !== undefined && fits(secret)) return secret
    }
    return undefined
  }

  #present(service: CompatService, enabled: boolean): CompatResource {
    return { service, enabled, address: this.#deps.baseUrl + PATHS[service] }
  }
}
