import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { requireWayIn } from '../people/ways-in.ts'
import { type Changer, changeFactors, type OwnFactorStores } from '../second-factors/own-factors.ts'
import { endGroupRoles, type GroupRoleStores } from './group-roles.ts'
import { identityIdOf } from './store/identity-store.ts'

type OwnIdentityStores = OwnFactorStores & GroupRoleStores

/** What people change of their accounts with the provider of single sign-on. */
export class OwnIdentities {
  readonly #deps: {
    readonly store: Store<OwnIdentityStores>
    readonly clock: Clock
    readonly issuer: string | undefined
  }

  /** @param deps.issuer of the instance's provider; undefined without one */
  constructor(deps: {
    store: Store<OwnIdentityStores>
    clock: Clock
    issuer: string | undefined
  }) {
    this.#deps = deps
  }

  /**
   * Unlinks an account, and ends all other sessions, of which it may have begun some. With the last account go the
   * roles that its groups gave.
   *
   * @throws {Failure} `not_found`; `validation_failed` for the last way to sign in
   */
  async unlink(changer: Changer, id: string): Promise<void> {
    const { store, clock, issuer } = this.#deps
    const { id: personId } = changer.person
    await store.write((stores) =>
      changeFactors(stores, changer, clock.nowMicros(), async (_, now) => {
        const own = await stores.identities.list(personId)
        const identity = own.find((each) => identityIdOf(each) === id)
        if (identity === undefined) throw Failure.notFound('Identity')
        await stores.identities.remove(identity)
        await requireWayIn(stores, personId, 'identity', issuer)
        const rest = own.filter((each) => each !== identity && each.issuer === issuer)
        if (rest.length === 0) await endGroupRoles(stores, changer.person, now)
        const before = { issuer: identity.issuer }
        return { type: 'identity.deleted', subjectId: personId, before, after: null }
      }),
    )
  }
}
