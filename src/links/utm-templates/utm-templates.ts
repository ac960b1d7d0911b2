import { fromFields, UTM_FIELDS, type UtmField } from '@terse/contract/link-fields'
import type { Actor, QuotaStores } from '../../identity/index.ts'
import { isUuid, type Random, uuidV7 } from '../../platform/crypto/random.ts'
import { Failure } from '../../platform/failure.ts'
import type { IdempotentRequest } from '../../platform/http/api/idempotency.ts'
import type { Page } from '../../platform/http/api/pagination.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  changedFields,
  type EventFields,
  type EventWriter,
  hasChanges,
  setFields,
} from '../../storage/event-log.ts'
import { type IdempotencyStores, runIdempotent } from '../../storage/idempotency.ts'
import { type Managed, timesOfWrite } from '../../storage/managed.ts'
import { type Store, UniqueViolation } from '../../storage/store.ts'
import type { UtmTemplate, UtmTemplateStore } from './utm-template-store.ts'

/** Templates of one workspace: they are chosen from a list. */
const TEMPLATES_MAX = 500

type TemplateStores = IdempotencyStores &
  QuotaStores & { readonly utmTemplates: UtmTemplateStore; readonly events: EventWriter }

/** What is left out keeps its value; null clears it. */
export type UtmTemplateInput = { readonly name?: string | undefined } & {
  readonly [F in UtmField | 'managed_by']?: string | null | undefined
}

type Dependencies = {
  readonly store: Store<TemplateStores>
  readonly clock: Clock
  readonly random: Random
}

/** The operations on UTM templates. Each acts within the workspace of its actor. */
export class UtmTemplates {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  list({ workspaceId }: Actor, offset: number, limit: number): Promise<Page<UtmTemplate>> {
    return this.#deps.store.read.utmTemplates.page(workspaceId, offset, limit)
  }

  /** @throws {Failure} `not_found` */
  async get({ workspaceId }: Actor, id: string): Promise<UtmTemplate> {
    return getTemplate(this.#deps.store.read, workspaceId, id)
  }

  /**
   * Does nothing where `create` would succeed.
   *
   * @throws {Failure} `validation_failed`
   */
  preview({ workspaceId }: Actor, { name }: { readonly name: string }): Promise<void> {
    return refuseNew(this.#deps.store.read, workspaceId, name)
  }

  /** @throws {Failure} `validation_failed`, `idempotency_conflict` */
  create(
    actor: Actor,
    { name, ...values }: UtmTemplateInput & { readonly name: string },
    request?: IdempotentRequest,
  ): Promise<UtmTemplate> {
    const { store, clock, random } = this.#deps
    const { workspaceId } = actor
    const id = uuidV7(clock, random)
    return store.write((stores) =>
      runIdempotent(stores, workspaceId, request, clock.nowMicros(), {
        // Others that add templates to the workspace wait, so that the number is exact.
        read: () => stores.quotas.lock(workspaceId),
        write: async () => {
          await refuseNew(stores, workspaceId, name)
          const now = clock.nowMicros()
          const fields = merged(undefined, values)
          const { managed_by } = fields
          const mark = { managed_by, isNamed: true, isChanged: true, nowMicros: now }
          const times = { created_at: now, ...timesOfWrite(undefined, mark) }
          const template = { id, workspace_id: workspaceId, name, ...fields, ...times }
          await stores.utmTemplates.insert(template)
          const after = setFields(fieldsOf(template))
          const event = {
            type: 'utm_template.created',
            subjectId: id,
            before: null,
            after,
          } as const
          await stores.events.append(actor, event, now)
          return template
        },
      }),
    )
  }

  /** @throws {Failure} `not_found`, `validation_failed` */
  async update(
    actor: Actor,
    id: string,
    { name, ...values }: UtmTemplateInput,
  ): Promise<UtmTemplate> {
    const { store, clock } = this.#deps
    const { workspaceId } = actor
    try {
      return await store.write(async (stores) => {
        const before = await getTemplate(stores, workspaceId, id)
        if (name !== undefined) await refuseTaken(stores, workspaceId, name, id)
        const changes = { name: name ?? before.name, ...merged(before, values) }
        const changed = changedFields(fieldsOf(before), fieldsOf({ ...before, ...changes }))
        const times = timesOfWrite(before, {
          managed_by: changes.managed_by,
          isNamed: values.managed_by !== undefined,
          isChanged: hasChanges(changed),
          nowMicros: clock.nowMicros(),
        })
        const { updated_at: now } = times
        const after = { ...before, ...changes, ...times }
        await stores.utmTemplates.update(after, before)
        if (now === before.updated_at) return after
        const event = { type: 'utm_template.updated', subjectId: id, ...changed } as const
        await stores.events.append(actor, event, now)
        return after
      })
    } catch (error) {
      throw error instanceof UniqueViolation ? nameTaken() : error
    }
  }

  /** @throws {Failure} `not_found` */
  async delete(actor: Actor, id: string): Promise<void> {
    const { store, clock } = this.#deps
    await store.write(async (stores) => {
      const template = await getTemplate(stores, actor.workspaceId, id)
      const isDeleted = await stores.utmTemplates.delete(actor.workspaceId, id)
      if (!isDeleted) throw Failure.notFound('UTM template')
      const before = setFields(fieldsOf(template))
      const event = { type: 'utm_template.deleted', subjectId: id, before, after: null } as const
      await stores.events.append(actor, event, clock.nowMicros())
    })
  }
}

/** @throws {Failure} `validation_failed` */
async function refuseNew(
  stores: Pick<TemplateStores, 'utmTemplates'>,
  workspaceId: string,
  name: string,
): Promise<void> {
  await refuseTaken(stores, workspaceId, name)
  if ((await stores.utmTemplates.count(workspaceId)) < TEMPLATES_MAX) return
  throw Failure.invalid({
    name: [{ code: 'limit_reached', reason: 'utm_templates', max: TEMPLATES_MAX }],
  })
}

async function getTemplate(
  stores: Pick<TemplateStores, 'utmTemplates'>,
  workspaceId: string,
  id: string,
): Promise<UtmTemplate> {
  const found = isUuid(id) ? await stores.utmTemplates.findById(workspaceId, id) : undefined
  if (found === undefined) throw Failure.notFound('UTM template')
  return found
}

/** @param ownId the template that may have the name */
async function refuseTaken(
  stores: Pick<TemplateStores, 'utmTemplates'>,
  workspaceId: string,
  name: string,
  ownId?: string,
): Promise<void> {
  const found = await stores.utmTemplates.findByName(workspaceId, name)
  if (found !== undefined && found.id !== ownId) throw nameTaken()
}

function nameTaken(): Failure {
  return Failure.invalid({ name: [{ code: 'taken', reason: 'utm_template' }] })
}

function merged(
  before: UtmTemplate | undefined,
  values: Omit<UtmTemplateInput, 'name'>,
): { readonly [F in UtmField]: string | null } & Pick<Managed, 'managed_by'> {
  return fromFields([...UTM_FIELDS, 'managed_by'], (field) => {
    const value = values[field]
    return value === undefined ? (before?.[field] ?? null) : value
  })
}

function fieldsOf({
  id,
  workspace_id,
  managed_at,
  created_at,
  updated_at,
  ...fields
}: UtmTemplate): EventFields {
  return fields
}
