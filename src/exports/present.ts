import type { ExportedRecord } from '@terse/contract/export'
import { fromFields, LINK_OPTION_FIELDS, NO_OPTIONS, UTM_FIELDS } from '@terse/contract/link-fields'
import { type DayOfClicks, dayOf, formatDay } from '../clicks/index.ts'
import {
  type ConversionSettings,
  type LinkedConversion,
  presentConversion,
} from '../conversions/index.ts'
import {
  type Domain,
  type DomainSettings,
  presentDomain,
  presentSettings,
} from '../domains/index.ts'
import type { ShownMember } from '../identity/index.ts'
import {
  type LabelSettings,
  type Link,
  optionsOf,
  presentLink,
  type RuleSet,
  type UtmTemplate,
} from '../links/index.ts'
import { formatInstant } from '../platform/time/clock.ts'

export function presentLabels({ parameter, labels }: LabelSettings): ExportedRecord {
  return { type: 'labels', parameter, labels: [...labels] }
}

export function presentConversionSettings(settings: ConversionSettings): ExportedRecord {
  return { type: 'conversion_settings', ...settings }
}

/** Without its idempotency key, of which only a digest is stored that another instance cannot compare. */
export function presentExportedConversion(conversion: LinkedConversion): ExportedRecord {
  const { domain, key, ...fields } = presentConversion(conversion)
  return { type: 'conversion', ...fields, visit: conversion.visit }
}

export function presentRuleSet({ id, name, rules, managed_by, ...times }: RuleSet): ExportedRecord {
  return {
    type: 'rule_set',
    id,
    name,
    rules: [...rules],
    managed_by,
    created_at: formatInstant(times.created_at),
    updated_at: formatInstant(times.updated_at),
  }
}

export function presentTemplate(template: UtmTemplate): ExportedRecord {
  const { id, name, managed_by, created_at, updated_at } = template
  return {
    type: 'utm_template',
    id,
    name,
    ...fromFields(UTM_FIELDS, (field) => template[field]),
    managed_by,
    created_at: formatInstant(created_at),
    updated_at: formatInstant(updated_at),
  }
}

export function presentExportedDomain(
  domain: Domain,
  { hstsMaxAge, isDefault }: { hstsMaxAge: number | undefined; isDefault: boolean },
): ExportedRecord {
  const { workspace_id, ...fields } = presentDomain(domain)
  return { type: 'domain', ...fields, hsts_max_age: hstsMaxAge ?? null, is_default: isDefault }
}

/** @param ruleSetName of its rule set; null for none */
export function presentExportedSettings(
  domain: Domain,
  settings: DomainSettings,
  ruleSetName: string | null,
): ExportedRecord {
  const { managed_at, updated_at, ...shown } = presentSettings({ domain, settings })
  return { type: 'domain_settings', ...shown, rule_set_name: ruleSetName }
}

export function presentMember({ person, role, joinedAt }: ShownMember): ExportedRecord {
  const { email, name } = person
  return { type: 'member', email, name, role, joined_at: formatInstant(joinedAt) }
}

export function presentClickDay(link: Link, { day, total }: DayOfClicks): ExportedRecord {
  const { persons, others } = total
  const { last_click } = presentLink(link)
  const isLast = last_click !== null && dayOf(last_click * 1_000_000) === day
  const counts = { clicks: persons, bots: others, last_click: isLast ? last_click : null }
  return { type: 'click_day', link_id: link.id, day: formatDay(day), ...counts }
}

/**
 * Leaves out the password: the sealed form is useless to others, and stays a secret.
 *
 * @param beside.rest what an import has stored beside the link, as JSON
 * @param beside.ruleSetName of its rule set; null for none
 */
export function presentExportedLink(
  link: Link,
  { rest, ruleSetName }: { readonly rest: string | null; readonly ruleSetName: string | null },
): ExportedRecord {
  const { workspace_id, link: _, password, clicks, ...fields } = presentLink(link)
  const imported = rest === null ? null : JSON.parse(rest)
  const rules = link.rules === null ? null : [...link.rules]
  const examples = link.examples === null ? null : [...link.examples]
  const isProtected = password !== null
  const kept = { clicks: link.clicks, protected: isProtected, rules, examples, imported }
  const options = someOptionsOf(link)
  return { type: 'link', ...fields, ...kept, options, rule_set_name: ruleSetName }
}

function someOptionsOf(link: Link) {
  const hasOptions = LINK_OPTION_FIELDS.some((field) => link[field] !== NO_OPTIONS[field])
  return hasOptions ? optionsOf(link) : null
}
