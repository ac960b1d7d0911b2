import type { Clock } from '../../lib/clock.ts'
import type { FairQueue } from '../../lib/fair-queue.ts'
import type { Random } from '../../lib/random.ts'
import { isUuid, uuidV7 } from '../../lib/uuid.ts'
import { type Change, linkChange } from '../changes/change.ts'
import { insertClaim, NEW_CLAIM, newClaim } from '../domains/claim.ts'
import type { Domain } from '../domains/domain.ts'
import type { Domains } from '../domains/domains.ts'
import { parseHost } from '../domains/host.ts'
import type { ServiceHost } from '../domains/service-host.ts'
import { Failure, type FieldFaults, faultsFoundBy, type Parsed } from '../failure.ts'
import type { IdempotentRequest } from '../idempotency/idempotency-store.ts'
import { once } from '../idempotency/once.ts'
import type { Page } from '../page.ts'
import { enforceQuotas } from '../quotas/enforce-quotas.ts'
import type { Quotas } from '../quotas/quota.ts'
import type { QuotaBook } from '../quotas/quota-book.ts'
import { type Nouns, StaleRow, type Store, UniqueViolation } from '../store.ts'
import { foldKey, generateKey, isReservedKey, KEY_VARIANTS_MAX } from './key.ts'
import { type Link, NO_ATTRIBUTES } from './link.ts'
import { type LinkChanges, type LinkInput, type LinkRules, parseLinkInput } from './link-input.ts'
import { searchLinks } from './link-search.ts'
import { type LinkQuery, needsScan } from './link-store.ts'
import type { PasswordVault } from './password-vault.ts'
import { refuseLoops } from './refuse-loops.ts'
import { storedBytes } from './stored-bytes.ts'

/** How many generated keys in a row may be taken before that is a fault: one in 10^9 is generous. */
const GENERATE_ATTEMPTS_MAX = 8

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
  /** @throws {Failure} `not_found`, `validation_failed` */
  update(workspaceId: string, id: string, input: LinkInput): Promise<Link>
  /** What is wrong with the fields of an input, as far as that can be told without the store. */
  faultsOf(input: LinkInput): FieldFaults
  /** @throws {Failure} `not_found` */
  delete(workspaceId: string, id: string): Promise<void>
}

export function links(deps: {
  store: Store
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

  const rules: LinkRules = { appSchemes: deps.appSchemes, parseDomain }

  function parseDomain(text: string): Parsed<string> {
    const isService = text.toLowerCase().replace(/\.$/, '') === serviceHost.host
    return isService ? { value: serviceHost.host } : parseHost(text)
  }

  function hostOf(text: string): string {
    const parsed = parseDomain(text)
    if ('fault' in parsed) throw Failure.invalid({ domain: [parsed.fault] })
    return parsed.value
  }

  /** The keyspace for a new link of the workspace, and the claim that had to be made for it. */
  async function keyspaceFor(
    stores: Nouns,
    workspaceId: string,
    host: string,
    quotas: Quotas,
  ): Promise<{ keyspaceId: number; claimed?: Domain }> {
    if (host === serviceHost.host) return { keyspaceId: serviceHost.keyspaceId }
    const own = await stores.domains.findByHost(workspaceId, host)
    if (own?.status !== 'active' && (await stores.domains.findActive(host)) !== undefined) {
      throw Failure.invalid({ domain: ['is not available to this workspace'] })
    }
    if (own !== undefined) return { keyspaceId: await stores.keyspaces.open(workspaceId, host) }
    if (!deps.claimOnLink)
      throw Failure.invalid({ domain: ['must be added to the workspace first'] })
    deps.domains.refuseUnclaimable(host)
    await enforceQuotas(stores, workspaceId, quotas, NEW_CLAIM)
    const claimed = newClaim(workspaceId, host, clock, random)
    const keyspaceId = await insertClaim(stores, claimed)
    // Somebody else in the workspace claimed it between the look and the write: look again.
    if (keyspaceId === undefined) throw new StaleRow()
    return { keyspaceId, claimed }
  }

  function refuseReserved(keyspaceId: number, key: string): void {
    if (keyspaceId === serviceHost.keyspaceId && isReservedKey(key)) {
      throw Failure.invalid({ key: ['is reserved for the service itself on this domain'] })
    }
  }

  /** What a password field stores: the sealed form of a text, or the sealed form it already has. */
  async function sealed(
    password: string,
    link: Pick<Link, 'id' | 'workspace_id' | 'password'>,
  ): Promise<string> {
    if (password === link.password) return password
    // Taken for a text, it would protect the link with something that nobody types.
    if (deps.vault.isSealed(password)) {
      throw Failure.invalid({ password: ['is the sealed form of another password; send the text'] })
    }
    return deps.vault.seal(password, { linkId: link.id, owner: `workspace ${link.workspace_id}` })
  }

  async function insert(
    stores: Nouns,
    link: Omit<Link, 'seq' | 'key'>,
    key?: string,
  ): Promise<Link> {
    if (key !== undefined) {
      refuseReserved(link.keyspace_id, key)
      const inserted = await stores.links.insert({ ...link, key })
      if (inserted === undefined) throw keyTaken()
      await refuseManyVariants(stores, inserted)
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

  return {
    async create(workspaceId, input, request) {
      const { domain, key, url, ...changes } = parseLinkInput(input, rules)
      if (url === undefined) throw Failure.invalid({ url: ['is required'] })
      if (domain === undefined) throw Failure.invalid({ domain: ['is required'] })
      const quotas = await deps.quotas.of(workspaceId)
      const identity = { id: uuidV7(clock, random), workspace_id: workspaceId }
      const password = changes.password
        ? await sealed(changes.password, { ...identity, password: null })
        : null
      let claimed: Domain | undefined

      const link = await store.write((stores) =>
        once(stores, workspaceId, request, clock.nowMicros(), async () => {
          const on = { workspaceId, host: domain }
          await refuseLoops(stores, serviceHost, on, destinationsOf({ url, ...changes }))
          const keyspace = await keyspaceFor(stores, workspaceId, domain, quotas)
          claimed = keyspace.claimed
          const now = clock.nowMicros()
          const fresh = {
            ...NO_ATTRIBUTES,
            ...changes,
            ...identity,
            keyspace_id: keyspace.keyspaceId,
            domain,
            url,
            password,
            clicks: 0,
            last_click: null,
            created_at: now,
            updated_at: now,
          }
          const bytes = storedBytes({ ...fresh, key: key ?? '' })
          await enforceQuotas(stores, workspaceId, quotas, { links: 1, storage_bytes: bytes })
          const inserted = await insert(stores, fresh, key)
          await stores.changes.append(changeOf(inserted), now)
          return inserted
        }),
      )
      if (claimed !== undefined) await deps.domains.prove(claimed)
      return link
    },

    get,
    faultsOf: (input) => faultsFoundBy(() => parseLinkInput(input, rules)),

    async list(sent) {
      const host = sent.host === undefined ? undefined : hostOf(sent.host)
      const query = { ...sent, host }
      const { links } = store.read
      return needsScan(query) ? searchLinks(links, deps.searches, query) : links.page(query)
    },

    async update(workspaceId, id, input) {
      const { domain: host, password: passwordText, ...changes } = parseLinkInput(input, rules)
      const before = await get(workspaceId, id)
      const quotas = await deps.quotas.of(workspaceId)
      const password = passwordText ? await sealed(passwordText, before) : passwordText
      let claimed: Domain | undefined

      try {
        const updated = await store.write(async (stores) => {
          const current = await stores.links.findById(workspaceId, id)
          if (current === undefined) throw Failure.notFound('Link')
          // A link whose domain was deleted keeps it: only a move to another host needs a claim.
          const moved = host !== undefined && host !== current.domain
          const domain = moved ? host : current.domain
          const destinations = destinationsOf(moved ? { ...current, ...changes } : changes)
          await refuseLoops(stores, serviceHost, { workspaceId, host: domain }, destinations)
          const keyspace = moved
            ? await keyspaceFor(stores, workspaceId, host, quotas)
            : { keyspaceId: current.keyspace_id }
          claimed = keyspace.claimed
          const now = Math.max(clock.nowMicros(), current.updated_at + 1)
          const next: Link = {
            ...current,
            ...changes,
            ...(password !== undefined && { password }),
            domain,
            keyspace_id: keyspace.keyspaceId,
            updated_at: now,
          }
          refuseReserved(next.keyspace_id, next.key)
          const bytes = storedBytes(next) - storedBytes(current)
          await enforceQuotas(stores, workspaceId, quotas, { storage_bytes: bytes })
          await stores.links.update(next, current)
          const [from, to] = [changeOf(current), changeOf(next)]
          await stores.changes.append(from, now)
          if (to.subject !== from.subject) {
            await refuseManyVariants(stores, next)
            await stores.changes.append(to, now)
          }
          return next
        })
        if (claimed !== undefined) await deps.domains.prove(claimed)
        return updated
      } catch (error) {
        throw error instanceof UniqueViolation ? keyTaken() : error
      }
    },

    async delete(workspaceId, id) {
      if (!isUuid(id)) throw Failure.notFound('Link')
      await store.write(async (stores) => {
        const link = await stores.links.delete(workspaceId, id)
        if (link === undefined) throw Failure.notFound('Link')
        await stores.changes.append(changeOf(link), clock.nowMicros())
      })
    },
  }
}

/** @param written in this unit already, so that it is counted */
async function refuseManyVariants(
  { links }: Nouns,
  written: Pick<Link, 'keyspace_id' | 'key'>,
): Promise<void> {
  if ((await links.countVariants(written.keyspace_id, written.key)) <= KEY_VARIANTS_MAX) return
  throw Failure.invalid({
    key: [`has ${KEY_VARIANTS_MAX} variants on this domain that differ only by letter case`],
  })
}

function changeOf({ keyspace_id, key }: Pick<Link, 'keyspace_id' | 'key'>): Change {
  return linkChange(keyspace_id, foldKey(key))
}

function keyTaken(): Failure {
  return Failure.invalid({ key: ['is taken on this domain'] })
}

function destinationsOf({ url, ios, android, expired_redirect_url }: LinkChanges) {
  return { url, ios, android, expired_redirect_url }
}
