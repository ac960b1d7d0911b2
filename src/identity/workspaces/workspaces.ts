import { quotaChange } from '../../platform/changes/change.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { Random } from '../../platform/crypto/random.ts'
import { isUuid, uuidV7 } from '../../platform/crypto/uuid.ts'
import type { Store } from '../../platform/database/store.ts'
import {
  changedFields,
  type EventWriter,
  type NewEvent,
} from '../../platform/events/event-writer.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Actor, ActorIn } from '../actor.ts'
import { NO_OVERRIDES, type QuotaOverrides } from '../quotas/quota.ts'
import type { QuotaStore } from '../quotas/store/quota-store.ts'
import type { WorkspaceStore } from './store/workspace-store.ts'
import { parseWorkspaceName, type Workspace } from './workspace.ts'

export type Workspaces = {
  /** @throws {Failure} `validation_failed` for an unusable or taken name */
  create(by: ActorIn, name: string): Promise<Workspace>
  /** Finds or makes it. */
  ensure(by: ActorIn, name: string): Promise<Workspace>
  /** @throws {Failure} `not_found` */
  get(name: string): Promise<Workspace>
  /**
   * The workspace of this name or, failing that, with this identifier.
   *
   * @throws {Failure} `not_found`
   */
  getByNameOrId(nameOrId: string): Promise<Workspace>
  /** Sets own limits of the actor's workspace, or clears them by null; those that are left out stay. */
  limit(actor: Actor, changes: Partial<QuotaOverrides>): Promise<void>
  list(): Promise<readonly Workspace[]>
}

type WorkspaceStores = {
  readonly workspaces: WorkspaceStore
  readonly quotas: QuotaStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

export function workspaces(deps: {
  store: Store<WorkspaceStores>
  clock: Clock
  random: Random
}): Workspaces {
  const { store, clock, random } = deps

  async function insert(by: ActorIn, name: string): Promise<Workspace | undefined> {
    const parsed = parseWorkspaceName(name)
    if ('fault' in parsed) throw Failure.invalid({ name: [parsed.fault] })
    const workspace = {
      id: uuidV7(clock, random),
      name: parsed.value,
      created_at: clock.nowMicros(),
    }
    const inserted = await store.write(async (stores) => {
      if (!(await stores.workspaces.insert(workspace))) return false
      const event = workspaceCreated(workspace)
      await stores.events.append(by(workspace.id), event, workspace.created_at)
      return true
    })
    return inserted ? workspace : undefined
  }

  async function get(name: string): Promise<Workspace> {
    const workspace = await store.read.workspaces.findByName(name)
    if (workspace === undefined) throw Failure.notFound(`Workspace "${name}"`)
    return workspace
  }

  return {
    async create(by, name) {
      const workspace = await insert(by, name)
      if (workspace === undefined) throw Failure.invalid({ name: [`"${name}" is taken`] })
      return workspace
    },
    ensure: async (by, name) => (await insert(by, name)) ?? get(name),
    get,
    async getByNameOrId(nameOrId) {
      if (!isUuid(nameOrId)) return get(nameOrId)
      const byName = await store.read.workspaces.findByName(nameOrId)
      if (byName !== undefined) return byName
      const byId = (await store.read.workspaces.list()).find(({ id }) => id === nameOrId)
      if (byId === undefined) throw Failure.notFound(`Workspace "${nameOrId}"`)
      return byId
    },
    limit: (actor, changes) =>
      store.write(async (stores) => {
        const { workspaceId } = actor
        await stores.quotas.lock(workspaceId)
        const before = (await stores.quotas.find(workspaceId)) ?? NO_OVERRIDES
        const after = { ...before, ...changes }
        await stores.quotas.set(workspaceId, after)
        const now = clock.nowMicros()
        await stores.changes.append(quotaChange(workspaceId), now)
        await stores.events.append(actor, quotasUpdated(workspaceId, before, after), now)
      }),
    list: () => store.read.workspaces.list(),
  }
}

function workspaceCreated({ id, name }: Workspace): NewEvent {
  return { type: 'workspace.created', subjectId: id, before: null, after: { name } }
}

function quotasUpdated(id: string, before: QuotaOverrides, after: QuotaOverrides): NewEvent {
  return { type: 'workspace.updated', subjectId: id, ...changedFields(before, after) }
}
