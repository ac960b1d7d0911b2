import { type BulkLinksAnswer, bulkLinksAnswer } from '@terse/contract/bulk-links'
import { domainSettingsSchema } from '@terse/contract/domain-settings'
import { domainDeleted, domainSchema } from '@terse/contract/domains'
import { ruleSetDeleted, ruleSetSchema } from '@terse/contract/rule-sets'
import { utmTemplateDeleted, utmTemplateSchema } from '@terse/contract/utm-templates'
import type { z } from 'zod'
import type { ApiClient } from '../api-client.ts'
import { withOption } from '../commands/rules.ts'
import { RemoteFault } from '../login-file.ts'
import { foldName, LINK_DEFAULTS, type Values, type WantedLink } from './link-file.ts'
import type { Change, Plan, Unconfirmed } from './plan.ts'

/** The most links and bytes of one bulk request. */
const BULK_ITEMS_MAX = 1_000
const BULK_BYTES_MAX = 1_900_000

/** What could not be applied. */
export type ApplyFailure = {
  readonly change: Change
  readonly text: string
  /** Whether the workspace may have changed since it was read, so that another plan may help. */
  readonly isStale: boolean
  /** Whether it was not tried, because something that it needs has failed. */
  readonly isBlocked?: true
}

export type ApplyContext = {
  readonly client: ApiClient
  readonly set: string
  /** The ids of the workspace's rule sets by their folded names; those that are created are added. */
  readonly ruleSetIds: Map<string, string>
  /** Returns the password that a variable has. */
  readonly passwordOf: (variable: string) => string
  /** Whether results of examples of links may change. */
  readonly acceptsChanges: boolean
  /** Called with what is done so far. */
  readonly onProgress: (text: string) => void
}

/**
 * Applies the changes of a plan in an order in which what is referred to exists. A change that fails does not stop the
 * others, except deletions, which wait for the next apply: what they would delete may be needed still.
 */
export async function applyPlan(
  context: ApplyContext,
  { changes, unconfirmed }: Pick<Plan, 'changes' | 'unconfirmed'>,
): Promise<{ readonly failures: readonly ApplyFailure[]; readonly heldBack: number }> {
  const applier = new Applier(context)
  const some = (kind: Change['kind'], isDeletion: boolean) =>
    changes.filter((change) => change.kind === kind && (change.action === 'delete') === isDeletion)
  await applier.each(some('rule_set', false), (change) => applier.writeRuleSet(change))
  await applier.each(some('domain', false).filter(applier.hasRuleSet), (change) =>
    applier.writeDomain(change),
  )
  await applier.each(some('utm_template', false), (change) => applier.writeTemplate(change))
  await applier.confirm(unconfirmed.filter(({ kind }) => kind !== 'link'))
  await applier.writeLinks(
    some('link', false),
    unconfirmed.filter(({ kind }) => kind === 'link'),
  )
  const deletions = changes.filter(({ action }) => action === 'delete')
  if (applier.failures.length > 0) {
    return { failures: applier.failures, heldBack: deletions.length }
  }
  await applier.deleteLinks(some('link', true))
  await applier.each(some('domain', true), ({ id }) =>
    applier.delete(`/domains/${id}`, domainDeleted),
  )
  await applier.each(some('rule_set', true), ({ id }) =>
    applier.delete(`/rule-sets/${id}`, ruleSetDeleted),
  )
  await applier.each(some('utm_template', true), ({ id }) =>
    applier.delete(`/utm-templates/${id}`, utmTemplateDeleted),
  )
  return { failures: applier.failures, heldBack: 0 }
}

type BulkItem = { readonly change: Change | undefined; readonly body: Values | string }

class Applier {
  readonly failures: ApplyFailure[] = []
  readonly #context: ApplyContext

  constructor(context: ApplyContext) {
    this.#context = context
  }

  async each(changes: readonly Change[], work: (change: Change) => Promise<void>): Promise<void> {
    for (const change of changes) {
      this.#context.onProgress(`${change.name} …`)
      await this.#attempt(change, () => work(change))
    }
  }

  async #attempt(change: Change, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      // Without a code there was no answer: nothing else would get one.
      if (!(error instanceof RemoteFault) || error.code === undefined) throw error
      const isStale = STALE_CODES.has(error.code)
      this.failures.push({ change, text: error.message, isStale })
      return false
    }
  }

  async writeRuleSet(change: Change): Promise<void> {
    const { client, set, ruleSetIds } = this.#context
    const { name, id } = change
    const body = { name, rules: rulesOf(change) ?? change.found?.rules ?? [], managed_by: set }
    const written =
      id === null
        ? await client.post('/rule-sets', ruleSetSchema, body)
        : await this.#patch(`/rule-sets/${id}`, ruleSetSchema, change, body)
    ruleSetIds.set(foldName(name), written.id)
  }

  async writeTemplate(change: Change): Promise<void> {
    const { client, set } = this.#context
    const { name, id } = change
    const body = { name, ...change.wanted?.values, managed_by: set }
    if (id === null) await client.post('/utm-templates', utmTemplateSchema, body)
    else await this.#patch(`/utm-templates/${id}`, utmTemplateSchema, change, body)
  }

  async writeDomain(change: Change): Promise<void> {
    const { client, set } = this.#context
    const { not_found_url, expired_url, ...settings } = change.wanted?.values ?? {}
    const urls = { not_found_url, expired_url }
    let { id } = change
    if (id === null) {
      ;({ id } = await client.post('/domains', domainSchema, { domain: change.name, ...urls }))
    } else if (change.fields.some(({ field }) => field in urls)) {
      await client.patch(`/domains/${id}`, domainSchema, urls)
    }
    const body = { ...settings, rule_set: this.#ruleSetId(change), managed_by: set }
    await this.#patch(`/domains/${id}/settings`, domainSettingsSchema, change, body)
  }

  /** Renews the marks of things that are as the file has them. */
  async confirm(unconfirmed: readonly Unconfirmed[]): Promise<void> {
    const { client, set: managed_by } = this.#context
    for (const { kind, id } of unconfirmed) {
      const body = { managed_by }
      if (kind === 'domain') {
        await unlessGone(client.patch(`/domains/${id}/settings`, domainSettingsSchema, body))
      } else if (kind === 'rule_set') {
        await unlessGone(client.patch(`/rule-sets/${id}`, ruleSetSchema, body))
      } else await unlessGone(client.patch(`/utm-templates/${id}`, utmTemplateSchema, body))
    }
  }

  /** Changes a thing, unless it was changed since the plan was made. */
  async #patch<T extends { readonly updated_at: string | null }>(
    path: string,
    schema: z.ZodType<T>,
    { found }: Change,
    body: Values,
  ): Promise<T> {
    const { client } = this.#context
    const { value, version } = await client.getVersioned(path, schema)
    if (found !== undefined && (value.updated_at ?? found.updated_at) !== found.updated_at) {
      throw new RemoteFault('It was changed since the plan was made.', 'precondition_failed')
    }
    return client.patch(path, schema, body, version)
  }

  delete(path: string, schema: z.ZodType<unknown>): Promise<void> {
    return unlessGone(this.#context.client.delete(path, schema))
  }

  /** Writes links with their marks and rules. */
  async writeLinks(all: readonly Change[], unconfirmed: readonly Unconfirmed[]): Promise<void> {
    const changes = all.filter(this.hasRuleSet)
    const bodies = (action: Change['action'], bodyOf: (change: Change) => Values) =>
      changes
        .filter((change) => change.action === action)
        .map((change) => ({ change, body: bodyOf(change) }))
    await this.#bulk(
      'create',
      bodies('create', (change) => this.#createBody(change)),
    )
    await this.#bulk(
      'update',
      bodies('update', (change) => this.#updateBody(change)),
    )
    const marks = unconfirmed.map(({ id }) => ({ id, managed_by: this.#context.set }))
    await this.#bulk(
      'update',
      marks.map((body) => ({ change: undefined, body })),
    )
  }

  #createBody(change: Change): Values {
    const { domain, key, values, rules, ruleSet, passwordFrom } = change.wanted as WantedLink
    const set = Object.entries(values).filter(([field, value]) => value !== LINK_DEFAULTS[field])
    return {
      ...Object.fromEntries(set),
      ...{ domain, key, managed_by: this.#context.set },
      ...this.#password(passwordFrom),
      ...(ruleSet !== null && { rule_set: this.#ruleSetId(change) }),
      ...(rules.length > 0 && { rules }),
    }
  }

  #updateBody(change: Change): Values {
    const wanted = change.wanted as WantedLink
    const body: Record<string, unknown> = { id: change.id, managed_by: this.#context.set }
    for (const { field, to } of change.fields) {
      if (field in LINK_DEFAULTS) body[field] = wanted.values[field]
      if (field === 'domain' || field === 'key') body[field] = wanted[field]
      if (field === 'rules') body.rules = to
      if (field === 'rule_set') body.rule_set = this.#ruleSetId(change)
      if (field === 'password') {
        Object.assign(body, { password: null }, this.#password(wanted.passwordFrom))
      }
    }
    return body
  }

  #password(variable: string | null): { password?: string } {
    return variable === null ? {} : { password: this.#context.passwordOf(variable) }
  }

  /** Whether the rule set of a link or domain exists: without it, visitors would be led elsewhere. Notes a failure if not. */
  readonly hasRuleSet = (change: Change): boolean => {
    const name = change.wanted?.ruleSet ?? null
    if (name === null || this.#context.ruleSetIds.has(foldName(name))) return true
    const text = `its rule set ${name} could not be created`
    this.failures.push({ change, text, isStale: true, isBlocked: true })
    return false
  }

  #ruleSetId({ wanted }: Change): string | null {
    return this.#context.ruleSetIds.get(foldName(wanted?.ruleSet ?? '')) ?? null
  }

  get #acceptance(): string {
    return this.#context.acceptsChanges ? '?accept_changes=true' : ''
  }

  async deleteLinks(changes: readonly Change[]): Promise<void> {
    const items = changes.map((change) => ({ change, body: change.id ?? '' }))
    await this.#bulk('delete', items)
  }

  async #bulk(action: BulkLinksAnswer['action'], items: readonly BulkItem[]): Promise<void> {
    let done = 0
    for (const part of partsOf(items)) {
      const bodies = part.map(({ body }) => body)
      const body = { action, [action === 'delete' ? 'ids' : 'links']: bodies }
      const results = await this.#sendUntilDone(body, (count) =>
        this.#context.onProgress(`${WORDS[action]} ${done + count} of ${items.length} links`),
      )
      for (const { index, error } of results) {
        const change = part[index]?.change
        if (change === undefined || error === null) continue
        if (action !== 'delete' || error.code !== 'not_found') this.#refused(change, error)
      }
      done += part.length
    }
  }

  #refused(change: Change, { code, message, errors = {} }: BulkError): void {
    const texts = Object.entries(errors).flatMap(([field, faults]) =>
      faults.map((fault) => `${field} ${fault}`),
    )
    const text = code === 'validation_failed' && texts.length > 0 ? texts.join('; ') : message
    const { message: shown } = withOption(new RemoteFault(text, code))
    this.failures.push({ change, text: shown, isStale: STALE_CODES.has(code) })
  }

  /** Sends a request again with its key while the service has not done all of it. */
  async #sendUntilDone(
    body: object,
    onProgress: (count: number) => void,
  ): Promise<BulkLinksAnswer['results']> {
    const key = crypto.randomUUID()
    for (;;) {
      const path = `/links/bulk${this.#acceptance}`
      const answer = await this.#context.client.post(path, bulkLinksAnswer, body, key)
      onProgress(answer.results.length - answer.pending)
      if (answer.done) return answer.results
    }
  }
}

const WORDS = { create: 'Created', update: 'Changed', delete: 'Deleted' } as const

type BulkError = NonNullable<BulkLinksAnswer['results'][number]['error']>

/** What another writer may have caused. */
const STALE_CODES: ReadonlySet<string> = new Set([
  'validation_failed',
  'not_found',
  'precondition_failed',
  'in_use',
])

/** Waits for a request about a thing that another writer may have deleted. */
async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    if (!(error instanceof RemoteFault) || error.code !== 'not_found') throw error
  }
}

function rulesOf({ fields }: Change): unknown {
  return fields.find(({ field }) => field === 'rules')?.to
}

function* partsOf(items: readonly BulkItem[]): Generator<readonly BulkItem[]> {
  let part: BulkItem[] = []
  let bytes = 0
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item.body)) + 1
    if (part.length >= BULK_ITEMS_MAX || (part.length > 0 && bytes + size > BULK_BYTES_MAX)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(item)
    bytes += size
  }
  if (part.length > 0) yield part
}
