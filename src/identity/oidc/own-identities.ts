import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { requireWayIn } from '../people/ways-in.ts'
import { type Changer, changeFactors, type OwnFactorStores } from '../second-factors/own-factors.ts'
import { identityIdOf } from './store/identity-store.ts'

/** What people change of their accounts with the provider of single sign-on. */
export class OwnIdentities {
  readonly #deps: {
    readonly store: Store<OwnFactorStores>
    readonly clock: Clock
    readonly issuer: string | undefined
  }

  /** @param deps.issuer of the instance's provider; undefined without one */
  constructor(deps: {
    store: Store<OwnFactorStores>
    clock: Clock
    issuer: string | undefined
  }) {
    this.#deps = deps
  }

  /**
   * Unlinks an account, and ends all other sessions, of which it may have begun some.
   *
   * @throws {Failure} `not_found`; `validation_failed` for the last way to sign in
   */
  async unlink(changer: Changer, id: string): Promise<void> {
    const { store, clock, issuer } = this.#deps
    const { id: personId } = changer.person
    await store.write((stores) =>
      changeFactors(stores, changer, clock.nowMicros(), async () => {
        const own = await stores.identities.list(personId)
        const identity = own.find((each) => identityIdOf(each) === id)
        if (identity === undefined) throw Failure.notFound('Identity')
        await stores.identities.remove(identity)
        await requireWayIn(stores, personId, 'identity', issuer)
        const before = { issuer: identity.issuer }
        return { type: 'identity.deleted', subjectId: personId, before, after: null }
      }),
    )
  }
}
