import type { EventResource } from '../api/events.ts'
import type { Catalogue } from '../text/en.ts'
import { fieldName } from './field-name.ts'

export type Difference = {
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
      .map((field) => ({
        name: fieldName(field, t),
        before: valueText(before[field], t),
        after: valueText(after[field], t),
      }))
      // Some events name their subject in both, such as the host of a domain.
      .filter((difference) => difference.before !== difference.after)
  )
}

function valueText(value: unknown, t: Catalogue): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(String).join(', ')
  if (typeof value === 'string') return t.settings.roles[value as 'owner'] ?? value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
