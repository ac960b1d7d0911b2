import type { EventResource } from '../api/events.ts'
import type { Catalogue } from '../text/en.ts'

type Difference = {
  readonly name: string
  /** Undefined where there was none. */
  readonly before: string | undefined
  readonly after: string | undefined
}

/** What a change has changed. Nothing for what was created or deleted as a whole, and no equal values. */
export function differencesOf(
  { type, before, after }: Pick<EventResource, 'type' | 'before' | 'after'>,
  t: Catalogue,
): readonly Difference[] {
  const isChange = /\.(?:updated|unverified|verified)$/.test(type)
  if (!isChange || before === null || after === null) return []
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return (
    fields
      .filter((field) => field !== 'updated_at')
      // Some events name their subject in both, such as the host of a domain.
      .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
      .map((field) => ({
        name: fieldName(field, t),
        before: valueText(field, before[field], t),
        after: valueText(field, after[field], t),
      }))
      .filter((difference) => difference.before !== undefined || difference.after !== undefined)
  )
}

function valueText(field: string, value: unknown, t: Catalogue): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (Array.isArray(value)) {
    if (value.length === 0) return undefined
    // Rules would be longer than the page.
    return typeof value[0] === 'object' ? t.links.marks.rules(value.length) : value.join(', ')
  }
  if (field === 'path') return t.linkForm.pathModes[value as 'none']
  if (field === 'query') return t.linkForm.queryModes[value as 'merge']
  if (typeof value === 'string') return t.settings.roles[value as 'owner'] ?? value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The name of a field of a change in the words of its form; one without such words keeps that of the API. */
function fieldName(field: string, t: Catalogue): string {
  const names: Readonly<Record<string, string>> = {
    ...t.audit.fields,
    ...t.linkForm.utmFields,
    url: t.linkForm.destination,
    domain: t.linkForm.domain,
    key: t.linkForm.key,
    tags: t.linkForm.tags,
    ios: t.linkForm.ios,
    android: t.linkForm.android,
    password: t.linkForm.password,
    expires_at: t.linkForm.expires,
    expired_redirect_url: t.linkForm.expiredUrl,
    external_id: t.linkForm.externalId,
    max_clicks: t.linkForm.maxClicks,
    active_from: t.linkForm.starts,
    archived: t.links.archived,
    notes: t.linkForm.notes,
    path: t.linkForm.path,
    query: t.linkForm.query,
    track_conversions: t.linkForm.track,
    managed_by: t.managed.set,
    prevent_delete: t.managed.preventDelete,
    rules: t.link.rules,
    description: t.sharing.description,
    image: t.sharing.image,
  }
  return names[field] ?? field
}
