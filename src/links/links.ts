import type { Domain, Domains } from '../domains/index.ts'
import { lookForLoops, refuseLoops, type ServiceHost } from '../hosts/index.ts'
import { enforceQuotas, type QuotaBook, type WorkspaceLimits } from '../identity/index.ts'
import { type Change, linkChange } from '../platform/changes/change.ts'
import type { Random } from '../platform/crypto/random.ts'
import { isUuid, uuidV7 } from '../platform/crypto/uuid.ts'
import type { Page, Run } from '../platform/database/page.ts'
import { type Store, TooManyVariants, UniqueViolation } from '../platform/database/store.ts'
import { Failure, type FieldFaults, faultsFoundBy } from '../platform/failure.ts'
import { once } from '../platform/idempotency/once.ts'
import type { IdempotentRequest } from '../platform/idempotency/store/idempotency-store.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion } from '../platform/version.ts'
import type { FairQueue } from '../platform/work/fair-queue.ts'
import { waitForAll } from '../platform/work/wait-for-all.ts'
import { GENERATE_ATTEMPTS_MAX, keyTaken, withGeneratedKey } from './generated-key.ts'
import { foldKey, generateKey, isReservedKey, KEY_VARIANTS_MAX } from './key.ts'
import { type Link, type LinkAttributes, linkVersion, type NewLink, NO_ATTRIBUTES } from './link.ts'
import { type LinkChanges, type LinkInput, type LinkRules, parseLinkInput } from './link-input.ts'
import { linkLists } from './link-lists.ts'
import { linkPlaces, type OpenedPlace } from './link-places.ts'
import type { LinkFilter, LinkQuery, LinkRun } from './link-query.ts'
import type { LinkStores } from './link-stores.ts'
import { parseLinkHost } from './parse-link-host.ts'
import type { PasswordVault } from './password-vault.ts'
import { storedBytes } from './stored-bytes.ts'

export type Links = {
  /** @throws {Failure} `validation_failed`, `idempotency_conflict` */
  create(workspaceId: string, input: LinkInput, request?: IdempotentRequest): Promise<Link>
  /** @throws {Failure} `not_found` */
  get(workspaceId: string, id: string): Promise<Link>
  /**
   * @throws {Failure} `validation_failed` for a domain that is no host name, or a search that takes
   *   too long
   * @throws {QueueRefusal} when too many searches are waiting
   */
  list(query: LinkQuery): Promise<Page<Link>>
  /** Consecutive links of a list. Fails as `list` does. */
  run(run: LinkRun): Promise<Run<Link, number>>
  /** How many links a list has. Fails as `list` does. */
  count(filter: LinkFilter): Promise<number>
  /**
   * A key of null has another one generated.
   *
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`
   */
  update(
    workspaceId: string,
    id: string,
    input: LinkInput,
    expected?: ExpectedVersions,
  ): Promise<Link>
  /** What is wrong with the fields of an input, as far as that can be told without the store. */
  faultsOf(input: LinkInput): FieldFaults
  /** @throws {Failure} `not_found`, `precondition_failed` */
  delete(workspaceId: string, id: string, expected?: ExpectedVersions): Promise<void>
}

export function links(deps: {
  store: Store<LinkStores>
  clock: Clock
  random: Random
  domains: Domains
  vault: PasswordVault
  serviceHost: ServiceHost
  /** URL schemes that `ios` and `android` may have besides http and https. */
  appSchemes: readonly string[]
  /** Whether a link on an unclaimed host claims it. */
  claimOnLink: boolean
  quotas: QuotaBook
  /** For `SEARCH_QUEUE`. */
  searches: FairQueue
}): Links {
  const { store, clock, random, serviceHost } = deps

  const places = linkPlaces(deps)
  const rules: LinkRules = {
    appSchemes: deps.appSchemes,
    parseDomain: (text) => parseLinkHost(text, serviceHost),
  }

  /** The keyspace for a link that moves: there its destinations may loop though they stay as they are. */
  async function moveTo(
    stores: LinkStores,
    link: LinkAttributes & Pick<Link, 'domain'>,
    limits: WorkspaceLimits,
  ): Promise<OpenedPlace> {
    const on = { workspaceId: limits.workspaceId, host: link.domain }
    const [, place] = await waitForAll([
      refuseLoops(stores, serviceHost, on, destinationsOf(link)),
      places.find(stores, on.workspaceId, on.host),
    ])
    return places.open(stores, place, limits)
  }

  function refuseReserved(keyspaceId: number, key: string): void {
    if (keyspaceId === serviceHost.keyspaceId && isReservedKey(key)) {
      throw Failure.invalid({ key: ['is reserved for the service itself on this domain'] })
    }
  }

  /** The form in which a password is stored. */
  function seal(text: string, link: Pick<Link, 'id' | 'workspace_id'>): Promise<string> {
    return deps.vault.seal(text, { linkId: link.id, owner: `workspace ${link.workspace_id}` })
  }

  /**
   * What a password field changes of a link as it is read: sending back the sealed form that it has
   * leaves it as it is. A text is hashed here, before the unit that reads the link.
   */
  async function passwordChange(
    text: string | null | undefined,
    link: Pick<Link, 'id' | 'workspace_id'>,
  ): Promise<(current: Pick<Link, 'password'>) => Partial<Pick<Link, 'password'>>> {
    if (text === undefined) return () => ({})
    if (text === null || !deps.vault.isSealed(text)) {
      const password = text === null ? null : await seal(text, link)
      return () => ({ password })
    }
    return (current) => {
      if (text !== current.password) throw foreignSeal()
      return {}
    }
  }

  /** Runs a unit that writes a link; what its store finds wrong with the key is the caller's fault. */
  async function writeLink<T>(work: (stores: LinkStores) => Promise<T>): Promise<T> {
    try {
      return await store.write(work)
    } catch (error) {
      if (error instanceof UniqueViolation) throw keyTaken()
      throw error instanceof TooManyVariants ? tooManyVariants() : error
    }
  }

  async function insert(
    stores: LinkStores,
    link: Omit<NewLink, 'key'>,
    key?: string,
  ): Promise<Link> {
    if (key !== undefined) {
      refuseReserved(link.keyspace_id, key)
      const inserted = await stores.links.insert({ ...link, key }, KEY_VARIANTS_MAX)
      if (inserted === undefined) throw keyTaken()
      return inserted
    }
    // Not counted: one of 27.5 billion does not happen to meet 16 variants of itself.
    for (let attempt = 0; attempt < GENERATE_ATTEMPTS_MAX; attempt += 1) {
      const inserted = await stores.links.insert({ ...link, key: generateKey(random) })
      if (inserted !== undefined) return inserted
    }
    throw new Error(`${GENERATE_ATTEMPTS_MAX} generated keys in a row were taken`)
  }

  async function get(workspaceId: string, id: string): Promise<Link> {
    const link = isUuid(id) ? await store.read.links.findById(workspaceId, id) : undefined
    if (link === undefined) throw Failure.notFound('Link')
    return link
  }

  const operations: Links = {
    async create(workspaceId, input, request) {
      const { domain, key, url, ...changes } = parseLinkInput(input, rules)
      if (url === undefined) throw Failure.invalid({ url: ['is required'] })
      if (domain === undefined) throw Failure.invalid({ domain: ['is required'] })
      const limits = await deps.quotas.limitsOf(workspaceId)
      const identity = { id: uuidV7(clock, random), workspace_id: workspaceId }
      const setPassword = await passwordChange(changes.password ?? null, identity)
      const { password = null } = setPassword({ password: null })
      let claimed: Domain | undefined

      const destinations = destinationsOf({ url, ...changes })
      const drawn = { ...NO_ATTRIBUTES, ...changes, ...identity, domain, url, password }
      const growth = { links: 1, storage_bytes: storedBytes({ ...drawn, key: key ?? '' }) }

      const link = await writeLink((stores) =>
        once(stores, workspaceId, request, clock.nowMicros(), {
          async look() {
            const [, place] = await waitForAll([
              refuseLoops(stores, serviceHost, { workspaceId, host: domain }, destinations),
              places.find(stores, workspaceId, domain),
              enforceQuotas(stores, limits, growth),
            ])
            return place
          },
          async work(place) {
            const keyspace = await places.open(stores, place, limits)
            claimed = keyspace.claimed
            const now = clock.nowMicros()
            const times = { created_at: now, updated_at: now }
            const fresh = { ...drawn, ...times, keyspace_id: keyspace.keyspaceId }
            const inserted = await insert(stores, fresh, key)
            await stores.changes.append(changeOf(inserted), now)
            return inserted
          },
        }),
      )
      if (claimed !== undefined) await deps.domains.prove(claimed)
      return link
    },

    get,
    faultsOf: (input) => faultsFoundBy(() => parseLinkInput(input, rules)),

    ...linkLists(deps),

    async update(workspaceId, id, input, expected) {
      if (input.key === null) {
        const withKey = (key: string) =>
          operations.update(workspaceId, id, { ...input, key }, expected)
        return withGeneratedKey(random, withKey)
      }
      const { domain: host, password: passwordText, ...changes } = parseLinkInput(input, rules)
      if (!isUuid(id)) throw Failure.notFound('Link')
      const limits = await deps.quotas.limitsOf(workspaceId)
      const setPassword = await passwordChange(passwordText, { id, workspace_id: workspaceId })
      let claimed: Domain | undefined

      const updated = await writeLink(async (stores) => {
        const [current, refuseOn] = await waitForAll([
          stores.links.findUncounted(workspaceId, id),
          lookForLoops(stores, serviceHost, workspaceId, destinationsOf(changes)),
        ])
        if (current === undefined) throw Failure.notFound('Link')
        requireVersion(expected, linkVersion(current))
        // A link whose domain was deleted keeps it: only a move to another host needs a claim.
        const moved = host !== undefined && host !== current.domain
        const domain = moved ? host : current.domain
        refuseOn(domain)
        const keyspace = moved
          ? await moveTo(stores, { ...current, ...changes, domain }, limits)
          : { keyspaceId: current.keyspace_id }
        claimed = keyspace.claimed
        const now = Math.max(clock.nowMicros(), current.updated_at + 1)
        const next = {
          ...current,
          ...changes,
          ...setPassword(current),
          domain,
          keyspace_id: keyspace.keyspaceId,
          updated_at: now,
        }
        refuseReserved(next.keyspace_id, next.key)
        const bytes = storedBytes(next) - storedBytes(current)
        // Asked for before the row is written, answered with it.
        const quotaLook = enforceQuotas(stores, limits, { storage_bytes: bytes })
        const update = stores.links.update(next, current, KEY_VARIANTS_MAX)
        const [written] = await waitForAll([update, quotaLook])
        const [from, to] = [changeOf(current), changeOf(next)]
        await stores.changes.append(from, now)
        if (to.subject !== from.subject) await stores.changes.append(to, now)
        return written
      })
      if (claimed !== undefined) await deps.domains.prove(claimed)
      return updated
    },

    async delete(workspaceId, id, expected) {
      if (!isUuid(id)) throw Failure.notFound('Link')
      await store.write(async (stores) => {
        const link = await stores.links.delete(workspaceId, id)
        if (link === undefined) throw Failure.notFound('Link')
        requireVersion(expected, linkVersion(link))
        await stores.changes.append(changeOf(link), clock.nowMicros())
      })
    },
  }
  return operations
}

function changeOf({ keyspace_id, key }: Pick<Link, 'keyspace_id' | 'key'>): Change {
  return linkChange(keyspace_id, foldKey(key))
}

function tooManyVariants(): Failure {
  return Failure.invalid({
    key: [`has ${KEY_VARIANTS_MAX} variants on this domain that differ only by letter case`],
  })
}

/** Taken for a text, it would protect the link with something that nobody types. */
function foreignSeal(): Failure {
  return Failure.invalid({ password: ['is the sealed form of another password; send the text'] })
}

function destinationsOf({ url, ios, android, expired_redirect_url }: LinkChanges) {
  return { url, ios, android, expired_redirect_url }
}
