import type { Random } from '../../platform/crypto/random.ts'
import type { Store } from '../../platform/database/store.ts'
import { INSTANCE } from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { systemActor } from '../actor.ts'
import { madeBy, NO_SUBJECT } from '../one-time-links/one-time-link.ts'
import { createOneTimeLink } from '../one-time-links/one-time-links.ts'
import type { OneTimeLinkStore } from '../one-time-links/store/one-time-link-store.ts'
import type { PersonStore } from '../people/store/person-store.ts'

const LIFETIME_MICROS = 24 * 60 * 60 * 1_000_000

type SetupLinkStores = {
  readonly people: PersonStore
  readonly oneTimeLinks: OneTimeLinkStore
}

/** Makes the codes with which the first person is set up. */
export class SetupLinks {
  readonly #deps: { store: Store<SetupLinkStores>; clock: Clock; random: Random }

  constructor(deps: { store: Store<SetupLinkStores>; clock: Clock; random: Random }) {
    this.#deps = deps
  }

  /** Whether the first person has yet to be set up. */
  isRequired(): Promise<boolean> {
    return this.#deps.store.read.people.isEmpty()
  }

  /**
   * Returns the code of a new link. Earlier ones stay valid.
   *
   * @throws {Failure} `validation_failed` once there is a person
   */
  create(by: string): Promise<string> {
    return this.#deps.store.write(async (stores) => {
      await stores.people.lockFirst()
      if (!(await stores.people.isEmpty())) throw setUpAlready()
      return this.#insert(stores, by)
    })
  }

  /** Returns the code of a new link; undefined once there is a person, and while another link is open. */
  createUnlessOpen(by: string): Promise<string | undefined> {
    return this.#deps.store.write(async (stores) => {
      await stores.people.lockFirst()
      if (!(await stores.people.isEmpty())) return undefined
      const now = this.#deps.clock.nowMicros()
      if (await stores.oneTimeLinks.hasOpen('setup', now)) return undefined
      return this.#insert(stores, by)
    })
  }

  async #insert({ oneTimeLinks }: SetupLinkStores, by: string): Promise<string> {
    const maker = madeBy(systemActor(by)(INSTANCE))
    const link = { ...NO_SUBJECT, kind: 'setup', ...maker } as const
    const { code } = await createOneTimeLink(this.#deps, oneTimeLinks, link, LIFETIME_MICROS)
    return code
  }
}

/** The page that sets up the first person. Browsers do not send what is behind `#`, so no log has the code. */
export function setupAddress(baseUrl: string, code: string): string {
  return `${baseUrl}/app/setup#code=${code}`
}

export function setUpAlready(): Failure {
  return Failure.invalid({ code: [{ code: 'already_set_up' }] })
}
