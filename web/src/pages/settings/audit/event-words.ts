import type { EventResource } from '../../../api/events.ts'
import { fieldName } from '../../../shell/field-name.ts'
import type { Catalogue } from '../../../text/en.ts'

type Fields = Readonly<Record<string, unknown>>

/** A part of a sentence; names are set apart. */
export type Part = {
  /** Unique in its sentence. */
  readonly id: string
  readonly text: string
  readonly isName: boolean
  readonly linkId?: string
}

/**
 * What happened, as one sentence.
 *
 * @param names the names of members, domains and tokens by their identifiers
 */
export function sentenceOf(
  event: EventResource,
  names: ReadonlyMap<string, string>,
  t: Catalogue,
): readonly Part[] {
  const template = t.audit.events[event.type]
  const isLink = event.type.startsWith('link.') && event.type !== 'link.deleted'
  const it: Part = {
    id: 'it',
    text: subjectOf(event, names, t),
    isName: true,
    ...(isLink && { linkId: event.subject_id }),
  }
  const who: Part = { id: 'who', text: actorOf(event, t), isName: true }
  return template
    .split(/(\{who\}|\{it\})/)
    .filter((text) => text !== '')
    .map((text) => {
      if (text === '{who}') return who
      return text === '{it}' ? it : { id: text, text, isName: false }
    })
}

/** The person, or the token by its name. */
function actorOf({ actor }: EventResource, t: Catalogue): string {
  return actor.kind === 'token' ? `${t.audit.token} ${actor.name}` : actor.name
}

function subjectOf(
  { type, subject_id: id, before, after }: EventResource,
  names: ReadonlyMap<string, string>,
  t: Catalogue,
): string {
  const all: Fields = { ...before, ...after }
  const text = (field: string) => {
    const value = all[field]
    return typeof value === 'string' ? value : undefined
  }
  const [noun = ''] = type.split('.')
  if (noun === 'link') {
    const key = text('key')
    return key === undefined || text('domain') === undefined
      ? t.audit.aLink
      : `${text('domain')}/${key}`
  }
  const known = names.get(id)
  if (noun === 'domain' || noun === 'certificate') {
    return known ?? text('domain') ?? text('host') ?? t.audit.aDomain
  }
  if (noun === 'token') return known ?? text('name') ?? t.audit.aToken
  return known ?? text('name') ?? text('email') ?? t.audit.somebody
}

export type Difference = {
  readonly name: string
  /** Undefined where there was none. */
  readonly before: string | undefined
  readonly after: string | undefined
}

/** What a change has changed. Nothing for what was created or deleted as a whole. */
export function differencesOf(
  { type, before, after }: EventResource,
  t: Catalogue,
): readonly Difference[] {
  const isChange = /\.(?:updated|unverified|verified)$/.test(type)
  if (!isChange || before === null || after === null) return []
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return fields
    .filter((field) => field !== 'updated_at')
    .map((field) => ({
      name: fieldName(field, t),
      before: valueText(before[field], t),
      after: valueText(after[field], t),
    }))
}

function valueText(value: unknown, t: Catalogue): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(String).join(', ')
  if (typeof value === 'string') return t.settings.roles[value as 'owner'] ?? value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
