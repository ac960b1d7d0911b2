import { isUuid, type Random, uuidV7 } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { IdempotentRequest } from '../../platform/http/api/idempotency.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type ChangeLog, quotaChange, sessionChange, tokenChange } from '../../storage/changes.ts'
import {
  changedFields,
  type EventWriter,
  INSTANCE,
  type NewEvent,
} from '../../storage/event-log.ts'
import { type IdempotencyStores, runIdempotent } from '../../storage/idempotency.ts'
import type { Store } from '../../storage/store.ts'
import type { Actor, ActorIn } from '../actor.ts'
import { type ActingStores, requireActor } from '../grants.ts'
import { groupsBound } from '../oidc/group-roles.ts'
import { NO_OVERRIDES, type QuotaOverrides } from '../quotas/quota.ts'
import type { MembershipStore } from '../store/membership-store.ts'
import type { OneTimeLinkStore } from '../store/one-time-link-store.ts'
import type { TokenStore } from '../store/token-store.ts'
import type {
  GroupBindingStore,
  QuotaStore,
  WorkspaceChanges,
  WorkspaceStore,
} from '../store/workspace-store.ts'
import { namesOf, parseWorkspaceName, parseWorkspaceTitle, type Workspace } from './workspace.ts'

type WorkspaceStores = ActingStores &
  IdempotencyStores & {
    readonly workspaces: WorkspaceStore
    readonly memberships: MembershipStore
    readonly groupBindings: GroupBindingStore
    readonly oneTimeLinks: OneTimeLinkStore
    readonly tokens: TokenStore
    readonly quotas: QuotaStore
    readonly changes: ChangeLog
    readonly events: EventWriter
  }

/** The operations on workspaces. */
export class Workspaces {
  readonly #store: Store<WorkspaceStores>
  readonly #clock: Clock
  readonly #random: Random
  readonly #mappedNames: ReadonlySet<string>

  /** @param deps.mappedNames names in TERSE_OIDC_ROLES; left out where no workspace is renamed */
  constructor(deps: {
    store: Store<WorkspaceStores>
    clock: Clock
    random: Random
    mappedNames?: ReadonlySet<string>
  }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#random = deps.random
    this.#mappedNames = deps.mappedNames ?? new Set()
  }

  /**
   * @param name undefined for one that follows from the title, and is free
   * @param options.title the name in any letters; the name itself when left out
   * @param options.ownerId the person who owns it; left out at the command line, where none does yet
   * @throws {Failure} `validation_failed` for an unusable name or title, and a taken name; `idempotency_conflict`
   */
  create(
    by: ActorIn,
    name: string | undefined,
    options: {
      readonly title?: string | undefined
      readonly ownerId?: string
      readonly repeatable?: IdempotentRequest | undefined
    } = {},
  ): Promise<Workspace> {
    const { title, ownerId, repeatable } = options
    const parsedTitle = title === undefined ? undefined : requireTitle(title)
    if (name === undefined && parsedTitle === undefined) {
      throw Failure.invalid({ title: [{ code: 'required' }] })
    }
    if (name !== undefined) requireName(name)
    return this.#store.write(async (stores) => {
      const now = this.#clock.nowMicros()
      await requireCreator(stores, by, now)
      return runIdempotent(stores, INSTANCE, repeatable, now, {
        read: async () => {},
        write: async () => {
          for (const each of name === undefined ? namesOf(parsedTitle ?? '') : [name]) {
            const workspace = this.#named(each, parsedTitle)
            if (await insert(stores, by, workspace, ownerId)) return workspace
          }
          throw nameTaken(name ?? '')
        },
      })
    })
  }

  /** Finds or makes it. */
  async ensure(by: ActorIn, name: string): Promise<Workspace> {
    const workspace = this.#named(name)
    const isNew = await this.#store.write(async (stores) => {
      await requireCreator(stores, by, workspace.created_at)
      return insert(stores, by, workspace, undefined)
    })
    return isNew ? workspace : this.get(name)
  }

  /** @throws {Failure} `not_found` */
  async get(name: string): Promise<Workspace> {
    const workspace = await this.#store.read.workspaces.findByName(name)
    if (workspace === undefined) throw Failure.notFound(`Workspace "${name}"`)
    return workspace
  }

  /** @throws {Failure} `not_found` */
  async getById(id: string): Promise<Workspace> {
    const workspace = await this.#store.read.workspaces.findById(id)
    if (workspace === undefined) throw Failure.notFound(`Workspace "${id}"`)
    return workspace
  }

  /**
   * The workspace of this name or, failing that, with this identifier.
   *
   * @throws {Failure} `not_found`
   */
  async getByNameOrId(nameOrId: string): Promise<Workspace> {
    if (!isUuid(nameOrId)) return this.get(nameOrId)
    const byName = await this.#store.read.workspaces.findByName(nameOrId)
    return byName ?? this.getById(nameOrId)
  }

  list(): Promise<readonly Workspace[]> {
    return this.#store.read.workspaces.list()
  }

  /**
   * Changes name and title of the actor's workspace. What TERSE_OIDC_ROLES names, operators alone rename: groups have roles
   * there.
   *
   * @param changes.title null for that of the name
   * @throws {Failure} `validation_failed` for an unusable name or title, a taken name, and one that operators alone give or
   *   take
   */
  async change(by: Actor, changes: WorkspaceChanges): Promise<void> {
    const { workspaceId } = by
    const name = changes.name === undefined ? undefined : requireName(changes.name)
    const title = changes.title == null ? changes.title : requireTitle(changes.title)
    await this.#store.write(async (stores) => {
      const now = this.#clock.nowMicros()
      const actor = await requireActor(stores, by, 'workspaces.patch', { nowMicros: now })
      await stores.workspaces.lockNames()
      const before = await stores.workspaces.findById(workspaceId)
      if (before === undefined) throw Failure.notFound('Workspace')
      if (name !== undefined && name !== before.name) {
        await this.#refuseMapped(stores, actor, [before.name, name])
        if ((await stores.workspaces.findByName(name)) !== undefined) throw nameTaken(name)
      }
      await stores.workspaces.change(workspaceId, {
        ...(name !== undefined && { name }),
        ...(title !== undefined && { title }),
      })
      const after = (await stores.workspaces.findById(workspaceId)) ?? before
      const fields = changedFields(shownOf(before), shownOf(after))
      if (Object.keys(fields.after).length === 0) return
      await forgetMembers(stores, workspaceId, now)
      const event = { type: 'workspace.updated', subjectId: workspaceId, ...fields } as const
      await stores.events.append(actor, event, now)
    })
  }

  /** Sets own limits of the actor's workspace, or clears them by null; those that are left out stay. */
  async limit(actor: Actor, changes: Partial<QuotaOverrides>): Promise<void> {
    await this.#store.write(async (stores) => {
      const { workspaceId } = actor
      await stores.quotas.lock(workspaceId)
      const before = (await stores.quotas.find(workspaceId)) ?? NO_OVERRIDES
      const after = { ...before, ...changes }
      await stores.quotas.set(workspaceId, after)
      const now = this.#clock.nowMicros()
      await stores.changes.append(quotaChange(workspaceId), now)
      const fields = changedFields(before, after)
      const event = { type: 'workspace.updated', subjectId: workspaceId, ...fields } as const
      await stores.events.append(actor, event, now)
    })
  }

  /**
   * Deletes the actor's workspace: at once for its people and tokens. Its domains and links are deleted in the
   * background (`WorkspaceRemoval`).
   *
   * @throws {Failure} `not_found` where it was deleted before
   */
  async delete(by: Actor): Promise<void> {
    const { workspaceId } = by
    await this.#store.write(async (stores) => {
      const now = this.#clock.nowMicros()
      const actor = await requireActor(stores, by, 'workspaces.delete', { nowMicros: now })
      const workspace = await stores.workspaces.findById(workspaceId)
      if (workspace === undefined) throw Failure.notFound('Workspace')
      await forgetMembers(stores, workspaceId, now)
      await stores.memberships.deleteAll(workspaceId)
      await stores.groupBindings.release(workspaceId)
      await stores.oneTimeLinks.deleteOfWorkspace(workspaceId)
      for (const id of await stores.tokens.revokeAll(workspaceId, now)) {
        await stores.changes.append(tokenChange(id), now)
      }
      await stores.workspaces.markDeleted(workspaceId, now)
      const before = { name: workspace.name }
      const event = {
        type: 'workspace.deleted',
        subjectId: workspaceId,
        before,
        after: null,
      } as const
      await stores.events.append(actor, event, now)
    })
  }

  /** Binds the name of the actor's workspace in TERSE_OIDC_ROLES to it, whatever it was bound to before. */
  async bindGroups(actor: Actor): Promise<void> {
    const { workspaceId } = actor
    await this.#store.write(async (stores) => {
      // Not beside a deletion, which would leave the name bound to what is gone.
      await stores.memberships.lock(workspaceId)
      const workspace = await stores.workspaces.findById(workspaceId)
      if (workspace === undefined) throw Failure.notFound('Workspace')
      const now = this.#clock.nowMicros()
      await stores.groupBindings.bind(workspace.name, workspaceId, now)
      await stores.events.append(actor, groupsBound(workspaceId, workspace.name), now)
    })
  }

  /** @throws {Failure} `validation_failed` */
  async #refuseMapped(
    { groupBindings }: WorkspaceStores,
    actor: Actor,
    names: readonly string[],
  ): Promise<void> {
    if (actor.kind === 'system' || actor.isOperator) return
    const bound = await groupBindings.namesOf(actor.workspaceId)
    if (![...names, ...bound].some((name) => this.#mappedNames.has(name))) return
    throw Failure.invalid({ name: [{ code: 'mapped_name' }] })
  }

  /** @throws {Failure} `validation_failed` */
  #named(text: string, title?: string): Workspace {
    const name = requireName(text)
    const id = uuidV7(this.#clock, this.#random)
    return { id, name, title: title ?? name, created_at: this.#clock.nowMicros() }
  }
}

/** @throws {Failure} `validation_failed` */
function requireName(text: string): string {
  const parsed = parseWorkspaceName(text)
  if ('fault' in parsed) throw Failure.invalid({ name: [parsed.fault] })
  return parsed.value
}

/** @throws {Failure} `validation_failed` */
function requireTitle(text: string): string {
  const parsed = parseWorkspaceTitle(text)
  if ('fault' in parsed) throw Failure.invalid({ title: [parsed.fault] })
  return parsed.value
}

function requireCreator(stores: WorkspaceStores, by: ActorIn, nowMicros: number): Promise<Actor> {
  return requireActor(stores, by(INSTANCE), 'workspaces.create', { nowMicros })
}

/** Returns false when the name is taken. */
async function insert(
  stores: WorkspaceStores,
  by: ActorIn,
  workspace: Workspace,
  ownerId: string | undefined,
): Promise<boolean> {
  const { id, created_at: now } = workspace
  if (!(await stores.workspaces.insert(workspace))) return false
  await stores.events.append(by(id), workspaceCreated(workspace), now)
  if (ownerId === undefined) return true
  const owner = {
    workspace_id: id,
    person_id: ownerId,
    role: 'owner',
    created_at: now,
    source: 'hand',
  } as const
  await stores.memberships.insert(owner)
  await stores.changes.append(sessionChange(ownerId), now)
  const added = { type: 'member.added', subjectId: ownerId, before: null } as const
  await stores.events.append(by(id), { ...added, after: { role: owner.role } }, now)
  return true
}

/** Invalidates the cached sessions of all members, which hold the workspace's name and their roles. */
async function forgetMembers(
  { memberships, changes }: Pick<WorkspaceStores, 'memberships' | 'changes'>,
  workspaceId: string,
  now: number,
): Promise<void> {
  for (const { person } of await memberships.listOfWorkspace(workspaceId)) {
    await changes.append(sessionChange(person.id), now)
  }
}

function nameTaken(name: string): Failure {
  return Failure.invalid({ name: [{ code: 'taken', reason: 'workspace', name }] })
}

/** As events show it: a title that is the name is none. */
function shownOf({ name, title }: Workspace): { name: string; title: string | null } {
  return { name, title: title === name ? null : title }
}

function workspaceCreated(workspace: Workspace): NewEvent {
  const { name, title } = shownOf(workspace)
  const after = { name, ...(title !== null && { title }) }
  return { type: 'workspace.created', subjectId: workspace.id, before: null, after }
}
