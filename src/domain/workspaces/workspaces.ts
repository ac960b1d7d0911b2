import type { Clock } from '../../lib/clock.ts'
import type { Random } from '../../lib/random.ts'
import { uuidV7 } from '../../lib/uuid.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../store.ts'
import { parseWorkspaceName, type Workspace } from './workspace.ts'

export type Workspaces = {
  /** @throws {Failure} `validation_failed` for an unusable or taken name */
  create(name: string): Promise<Workspace>
  /** Finds or makes it. */
  ensure(name: string): Promise<Workspace>
  /** @throws {Failure} `not_found` */
  get(name: string): Promise<Workspace>
  list(): Promise<readonly Workspace[]>
}

export function workspaces(deps: { store: Store; clock: Clock; random: Random }): Workspaces {
  const { store, clock, random } = deps

  async function insert(name: string): Promise<Workspace | undefined> {
    const parsed = parseWorkspaceName(name)
    if ('fault' in parsed) throw Failure.invalid({ name: [parsed.fault] })
    const workspace = {
      id: uuidV7(clock, random),
      name: parsed.value,
      created_at: clock.nowMicros(),
    }
    const inserted = await store.write((stores) => stores.workspaces.insert(workspace))
    return inserted ? workspace : undefined
  }

  async function get(name: string): Promise<Workspace> {
    const workspace = await store.read.workspaces.findByName(name)
    if (workspace === undefined) throw Failure.notFound(`Workspace "${name}"`)
    return workspace
  }

  return {
    async create(name) {
      const workspace = await insert(name)
      if (workspace === undefined) throw Failure.invalid({ name: [`"${name}" is taken`] })
      return workspace
    },
    ensure: async (name) => (await insert(name)) ?? get(name),
    get,
    list: () => store.read.workspaces.list(),
  }
}
