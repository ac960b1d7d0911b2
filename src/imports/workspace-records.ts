import { fromFields, UTM_FIELDS } from '@terse/contract/link-fields'
import { utmTemplateBody } from '@terse/contract/utm-templates'
import type { Domains } from '../domains/index.ts'
import type { Actor } from '../identity/index.ts'
import type { UtmTemplates } from '../links/index.ts'
import { Failure } from '../platform/failure.ts'
import { validate } from '../platform/http/api/validation.ts'
import { type RowOutcome, reasonOf } from './import.ts'
import type { DomainRecord, UtmTemplateRecord } from './import-source.ts'

export type WorkspaceRecord = DomainRecord | UtmTemplateRecord

/** What became of a record that is no link. */
export type SettledRecord = { readonly outcome: RowOutcome; readonly reason: string }

type Services = {
  readonly domains: Pick<Domains, 'create' | 'preview' | 'proposeDefault'>
  readonly utmTemplates: Pick<UtmTemplates, 'create' | 'preview'>
}

type Circumstances = {
  /** Where the domain goes. */
  readonly host: string
  readonly isDryRun: boolean
  /** Whether an earlier row of the same dry run adds it. */
  readonly isTaken: boolean
}

const checkTemplate = validate({
  schema: utmTemplateBody,
  httpPart: 'body',
  method: 'POST',
  url: '',
})

/**
 * Adds a domain or a template of UTM values to the workspace. One that is there stays as it is, so that a record can
 * be written again after a kill.
 */
export async function writeWorkspaceRecord(
  services: Services,
  actor: Actor,
  record: WorkspaceRecord,
  at: Circumstances,
): Promise<SettledRecord> {
  const settled = await addRecord(services, actor, record, at)
  if (at.isDryRun || settled.outcome === 'refused') return settled
  // For one that is there too: a kill may have come between the two.
  if (record.kind === 'domain' && record.is_default === true) {
    await services.domains.proposeDefault(actor, at.host)
  }
  return settled
}

async function addRecord(
  services: Services,
  actor: Actor,
  record: WorkspaceRecord,
  at: Circumstances,
): Promise<SettledRecord> {
  if (record.kind === 'domain' && !actor.permissions.has('domains.edit')) {
    return { outcome: 'refused', reason: NO_DOMAINS }
  }
  const how = at.isDryRun ? 'preview' : 'create'
  try {
    if (record.kind === 'domain') {
      const { not_found_url, expired_url } = record
      const { host } = at
      if (at.isTaken) throw Failure.invalid({ domain: [{ code: 'taken', reason: 'domain' }] })
      await services.domains[how](actor, { domain: host, not_found_url, expired_url })
      return { outcome: 'created', reason: 'The domain has to be proved again.' }
    }
    const { name } = record
    const values = fromFields(UTM_FIELDS, (field) => record[field])
    const checked: { error?: unknown } = Object(checkTemplate({ name, ...values }))
    if (checked.error instanceof Failure) throw checked.error
    if (at.isTaken) throw Failure.invalid({ name: [{ code: 'taken', reason: 'utm_template' }] })
    await services.utmTemplates[how](actor, { name, ...values })
    return { outcome: 'created', reason: '' }
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unavailable') throw error
    return { outcome: isTaken(error) ? 'skipped' : 'refused', reason: reasonOf(error) }
  }
}

const NO_DOMAINS = 'Whoever started this import may not add domains.'

/** Whether the workspace has the domain, or a template of this name. */
function isTaken({ fields }: Failure): boolean {
  const faults = [...(fields?.domain ?? []), ...(fields?.name ?? [])]
  return faults.some(({ code }) => code === 'taken')
}
