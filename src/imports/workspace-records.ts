import { isDeepStrictEqual } from 'node:util'
import { conversionSettingsBody } from '@terse/contract/conversions'
import { type DomainSettingsInput, domainSettingsBody } from '@terse/contract/domain-settings'
import { faultText } from '@terse/contract/faults'
import { labelsBody } from '@terse/contract/labels'
import { fromFields, UTM_FIELDS } from '@terse/contract/link-fields'
import { createRuleSetBody } from '@terse/contract/rule-sets'
import { utmTemplateBody } from '@terse/contract/utm-templates'
import type { z } from 'zod'
import type { ConversionSettingsService } from '../conversions/index.ts'
import type { DomainSettingsService, Domains } from '../domains/index.ts'
import type { Actor } from '../identity/index.ts'
import { foldKey, type Labels, type RuleSets, type UtmTemplates } from '../links/index.ts'
import { Failure, type FieldFaults } from '../platform/failure.ts'
import { validateWith } from '../platform/http/api/validation.ts'
import { type RowOutcome, reasonOf } from './import.ts'
import { usableRules } from './import-candidate.ts'
import type {
  ConversionSettingsRecord,
  DomainRecord,
  DomainSettingsRecord,
  ImportRecord,
  LabelsRecord,
  RuleSetRecord,
  UtmTemplateRecord,
} from './import-source.ts'

export type WorkspaceRecord =
  | DomainRecord
  | UtmTemplateRecord
  | RuleSetRecord
  | DomainSettingsRecord
  | LabelsRecord
  | ConversionSettingsRecord

/** The outcome for a record that is no link. */
export type SettledRecord = { readonly outcome: RowOutcome; readonly reason: string }

export type WorkspaceServices = {
  readonly domains: Pick<Domains, 'create' | 'preview' | 'proposeDefault' | 'getByHost'>
  readonly utmTemplates: Pick<UtmTemplates, 'create' | 'preview'>
  readonly ruleSets: Pick<RuleSets, 'create' | 'preview' | 'faultsOf' | 'findByName'>
  readonly domainSettings: Pick<DomainSettingsService, 'adopt' | 'faultsOf'>
  readonly labels: Pick<Labels, 'adopt'>
  readonly conversionSettings: Pick<ConversionSettingsService, 'adopt'>
}

type Circumstances = {
  /** Where a domain or its settings go. */
  readonly host: string
  readonly isDryRun: boolean
  /** Whether an earlier row of the same dry run would add the target. */
  readonly isTried: (target: string) => Promise<boolean>
  /** See `targetOfRecord`. */
  readonly target: string
}

const NO_DOMAINS = 'The person or token that started this import may not add domains.'
const NO_SETTINGS =
  'The person or token that started this import may not change settings of domains.'
const NO_LABELS =
  'The person or token that started this import may not change how visits get labels.'

const NO_CONVERSION_SETTINGS =
  'The person or token that started this import may not change how conversions are counted.'

export function isWorkspaceRecord(record: ImportRecord): record is WorkspaceRecord {
  switch (record.kind) {
    case 'domain':
    case 'utm template':
    case 'rule set':
    case 'domain settings':
    case 'labels':
    case 'conversion settings':
      return true
    default:
      return false
  }
}

/** What a record takes, as `targetOf` of a link; no link has such a name, which has a blank. */
export function targetOfRecord(record: WorkspaceRecord, host: string): string {
  switch (record.kind) {
    case 'domain':
      return targetOfHost(host)
    case 'utm template':
      return `UTM template ${record.name}`
    case 'rule set':
      return ruleSetTarget(record.name)
    case 'domain settings':
      return `settings of ${host}`
    case 'labels':
      return 'settings of labels'
    case 'conversion settings':
      return 'settings of conversions'
  }
}

export function ruleSetTarget(name: string): string {
  return `rule set ${foldKey(name)}`
}

/** Returns the note for a link or a domain whose rule set this workspace does not have. */
export function noRuleSet(name: string): string {
  return `The workspace has no rule set ${name}: choose another.`
}

/** As `targetOf` without a key. */
function targetOfHost(host: string): string {
  return `${host}/`
}

/**
 * Adds what is no link to the workspace. What is there stays as it is, so that a record can be written again after a
 * kill.
 */
export async function writeWorkspaceRecord(
  services: WorkspaceServices,
  actor: Actor,
  record: WorkspaceRecord,
  at: Circumstances,
): Promise<SettledRecord> {
  const settled = await settle(services, actor, record, at)
  if (at.isDryRun || settled.outcome === 'refused') return settled
  // For one that is there too: a kill may have come between the two.
  if (record.kind === 'domain' && record.is_default === true) {
    await services.domains.proposeDefault(actor, at.host)
  }
  return settled
}

async function settle(
  services: WorkspaceServices,
  actor: Actor,
  record: WorkspaceRecord,
  at: Circumstances,
): Promise<SettledRecord> {
  try {
    switch (record.kind) {
      case 'domain':
        return await addDomain(services, actor, record, at)
      case 'utm template':
        return await addTemplate(services, actor, record, at)
      case 'rule set':
        return await addRuleSet(services, actor, record, at)
      case 'domain settings':
        return await adoptSettings(services, actor, record, at)
      case 'labels':
        return await adoptLabels(services, actor, record, at)
      case 'conversion settings':
        return await adoptConversionSettings(services, actor, record, at)
    }
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unavailable') throw error
    return { outcome: isTaken(error) ? 'skipped' : 'refused', reason: reasonOf(error) }
  }
}

async function addDomain(
  { domains }: WorkspaceServices,
  actor: Actor,
  { not_found_url, expired_url }: DomainRecord,
  { host, isDryRun, isTried, target }: Circumstances,
): Promise<SettledRecord> {
  if (!actor.permissions.has('domains.edit')) return refused(NO_DOMAINS)
  if (await isTried(target))
    throw Failure.invalid({ domain: [{ code: 'taken', reason: 'domain' }] })
  await domains[isDryRun ? 'preview' : 'create'](actor, {
    domain: host,
    not_found_url,
    expired_url,
  })
  return created('The domain has to be proved again.')
}

async function addTemplate(
  { utmTemplates }: WorkspaceServices,
  actor: Actor,
  record: UtmTemplateRecord,
  { isDryRun, isTried, target }: Circumstances,
): Promise<SettledRecord> {
  const { name, managed_by } = record
  const input = { name, managed_by, ...fromFields(UTM_FIELDS, (field) => record[field]) }
  requireValid(checkOf(utmTemplateBody)(input))
  if (await isTried(target)) {
    throw Failure.invalid({ name: [{ code: 'taken', reason: 'utm_template' }] })
  }
  await utmTemplates[isDryRun ? 'preview' : 'create'](actor, input)
  return created('')
}

/** Leaves out single rules that are refused here. */
async function addRuleSet(
  { ruleSets }: WorkspaceServices,
  actor: Actor,
  { name, rules, managed_by }: RuleSetRecord,
  { isDryRun, isTried, target }: Circumstances,
): Promise<SettledRecord> {
  const there = await ruleSets.findByName(actor, name)
  if (there !== undefined) {
    const isSame = isDeepStrictEqual(plainOf(there.rules), plainOf(rules))
    return skipped(isSame ? 'The rule set is there already.' : OTHER_RULES)
  }
  if (await isTried(target))
    throw Failure.invalid({ name: [{ code: 'taken', reason: 'rule_set' }] })
  const faultsOf = checkOf(createRuleSetBody, (input) => ruleSets.faultsOf(input))
  const usable = usableRules({ rules }, (input) => faultsOf({ name, rules: input.rules ?? [] }))
  const input = { name, rules: usable.rules ?? [], managed_by }
  requireValid(faultsOf(input))
  await ruleSets[isDryRun ? 'preview' : 'create'](actor, input)
  return created(usable.notes.join(' '))
}

const OTHER_RULES =
  'The workspace has a rule set of this name with other rules: it stays as it is, and the links use it.'

/** Leaves out single settings that are refused here. */
async function adoptSettings(
  services: WorkspaceServices,
  actor: Actor,
  record: DomainSettingsRecord,
  at: Circumstances,
): Promise<SettledRecord> {
  if (!actor.permissions.has('domains.edit')) return refused(NO_SETTINGS)
  const { host, isDryRun, isTried, target } = at
  const { domains, domainSettings } = services
  if (await isTried(target)) return skipped(OWN_SETTINGS)
  const { input, notes } = await settingsOf(services, actor, record, at)
  // A domain that a dry run would add has no settings.
  if (!(await isTried(targetOfHost(host)))) {
    const domain = await domains.getByHost(actor, host)
    const isNew = await domainSettings.adopt(actor, domain.id, input, { isPreview: isDryRun })
    if (!isNew) return skipped(OWN_SETTINGS)
  }
  return created(notes.join(' '))
}

const OWN_SETTINGS = 'The domain has settings already: they stay as they are.'

/** Returns what this workspace can take of settings. */
async function settingsOf(
  { ruleSets, domainSettings }: WorkspaceServices,
  actor: Actor,
  { settings, rule_set_name: name }: DomainSettingsRecord,
  { host, isTried }: Circumstances,
): Promise<{ readonly input: DomainSettingsInput; readonly notes: readonly string[] }> {
  const faultsOf = checkOf(domainSettingsBody, (input) => domainSettings.faultsOf(input, host))
  const faults = Object.entries(faultsOf(settings))
  const isRight = ([field]: readonly [string, unknown]) =>
    !faults.some(([path]) => path.split('.', 1)[0] === field)
  const input: DomainSettingsInput = Object.fromEntries(Object.entries(settings).filter(isRight))
  const notes = faults.map((fault) => `${sentenceOf(fault)} It was left out.`)
  if (name === null) return { input, notes }
  const ruleSet = await ruleSets.findByName(actor, name)
  if (ruleSet !== undefined) return { input: { ...input, rule_set: ruleSet.id }, notes }
  return {
    input,
    notes: (await isTried(ruleSetTarget(name))) ? notes : [...notes, noRuleSet(name)],
  }
}

async function adoptLabels(
  { labels: service }: WorkspaceServices,
  actor: Actor,
  { parameter, labels }: LabelsRecord,
  { isDryRun, isTried, target }: Circumstances,
): Promise<SettledRecord> {
  if (!actor.permissions.has('workspace.edit')) return refused(NO_LABELS)
  const input = { parameter, labels }
  requireValid(checkOf(labelsBody)(input))
  const what = (await isTried(target))
    ? 'kept'
    : await service.adopt(actor, input, { isPreview: isDryRun })
  return settledBy(what, 'labels')
}

async function adoptConversionSettings(
  { conversionSettings: service }: WorkspaceServices,
  actor: Actor,
  { settings }: ConversionSettingsRecord,
  { isDryRun, isTried, target }: Circumstances,
): Promise<SettledRecord> {
  if (!actor.permissions.has('workspace.edit')) return refused(NO_CONVERSION_SETTINGS)
  requireValid(checkOf(conversionSettingsBody)(settings))
  const what = (await isTried(target))
    ? 'kept'
    : await service.adopt(actor, settings, { isPreview: isDryRun })
  return settledBy(what, 'conversions')
}

function settledBy(what: 'adopted' | 'same' | 'kept', of: string): SettledRecord {
  if (what === 'adopted') return created('')
  return skipped(
    what === 'same'
      ? 'The workspace has the same settings already.'
      : `The workspace has settings for ${of} already: they stay as they are.`,
  )
}

function created(reason: string): SettledRecord {
  return { outcome: 'created', reason }
}

function skipped(reason: string): SettledRecord {
  return { outcome: 'skipped', reason }
}

function refused(reason: string): SettledRecord {
  return { outcome: 'refused', reason }
}

/**
 * Returns a function that finds the faults of a body as the API does.
 *
 * @param faultsOf finds those that its shape does not show
 */
function checkOf<T>(
  schema: z.ZodType<T>,
  faultsOf: (input: T) => FieldFaults = () => ({}),
): (input: unknown) => FieldFaults {
  const found = (input: object) => faultsOf(input as T)
  const check = validateWith(found)({ schema, httpPart: 'body', method: 'POST', url: '' })
  return (input) => {
    const checked: { error?: unknown; value?: object } = Object(check(input))
    if (checked.error === undefined) return found(checked.value ?? {})
    if (!(checked.error instanceof Failure)) throw checked.error
    return checked.error.fields ?? {}
  }
}

/** @throws {Failure} `validation_failed` */
function requireValid(faults: FieldFaults): void {
  if (Object.keys(faults).length > 0) throw Failure.invalid(faults)
}

function sentenceOf([path, [fault]]: readonly [string, FieldFaults[string]]): string {
  return `${path} ${faultText(fault ?? { code: 'invalid' })}.`
}

/** Without members that are undefined, as JSON. */
function plainOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** Whether the workspace has the domain, or something of this name. */
function isTaken({ fields }: Failure): boolean {
  const faults = [...(fields?.domain ?? []), ...(fields?.name ?? [])]
  return faults.some(({ code }) => code === 'taken')
}
