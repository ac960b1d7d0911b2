import type { ExportedRecord } from '@terse/contract/export'
import { fromFields, LINK_OPTION_FIELDS, NO_OPTIONS, UTM_FIELDS } from '@terse/contract/link-fields'
import { type DayOfClicks, dayOf, formatDay } from '../clicks/index.ts'
import { type Domain, presentDomain } from '../domains/index.ts'
import type { ShownMember } from '../identity/index.ts'
import { type Link, presentLink, presentOptions, type UtmTemplate } from '../links/index.ts'
import { formatInstant } from '../platform/time/clock.ts'

export function presentTemplate(template: UtmTemplate): ExportedRecord {
  const { id, name, created_at, updated_at } = template
  return {
    type: 'utm_template',
    id,
    name,
    ...fromFields(UTM_FIELDS, (field) => template[field]),
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
 * @param rest what an import has stored beside the link, as JSON
 */
export function presentExportedLink(link: Link, rest: string | null): ExportedRecord {
  const { workspace_id, link: _, password, clicks, ...fields } = presentLink(link)
  const imported = rest === null ? null : JSON.parse(rest)
  const rules = link.rules === null ? null : [...link.rules]
  const examples = link.examples === null ? null : [...link.examples]
  const isProtected = password !== null
  const kept = { clicks: link.clicks, protected: isProtected, rules, examples, imported }
  return { type: 'link', ...fields, ...kept, options: optionsOf(link) }
}

function optionsOf(link: Link) {
  const hasOptions = LINK_OPTION_FIELDS.some((field) => link[field] !== NO_OPTIONS[field])
  return hasOptions ? presentOptions(link) : null
}
