import { LINK_TEXTS, type LinkText } from '@terse/contract/link-fields'
import type { LinkChange, RevertibleField } from '@terse/contract/link-history'
import type { Catalogue } from '../../text/en.ts'
import type { Formats } from '../../text/formats.ts'
import { shortDestination } from '../../widgets/destination-parts.ts'

type Change = Pick<LinkChange, 'before' | 'after'>

/** A part of a sentence; values are set apart. */
type Part = { readonly text: string; readonly isValue: boolean }

/** Fields whose values are too long for a sentence, or say nothing to people. */
const UNTOLD: ReadonlySet<string> = new Set([
  'rules',
  'rule_set',
  'notes',
  'examples',
  'password',
  'image',
])

/** What a person did to a link, as the rest of sentences that begin with their name: one for each field. */
export function sentencesOf(
  { before, after }: Change,
  t: Catalogue,
  formats: Formats,
): readonly (readonly Part[])[] {
  const { history } = t.link
  if (before === null) return [[{ text: history.created, isValue: false }]]
  const fields = Object.keys({ ...before, ...after })
  return fields.map((field) => {
    if (field === 'archived') {
      const text = after?.[field] === true ? history.archived : history.unarchived
      return [{ text, isValue: false }]
    }
    if (field === 'prevent_delete') {
      const text = after?.[field] === true ? history.prevented : history.allowed
      return [{ text, isValue: false }]
    }
    const noun = history.nouns[field] ?? field
    const [from, to] = [before[field], after?.[field]].map((value) =>
      valueText(field, value, t, formats),
    )
    const template = templateOf(field, from, to, history)
    return partsOf(template, { noun, from: from ?? '', to: to ?? '' })
  })
}

function templateOf(
  field: string,
  from: string | undefined,
  to: string | undefined,
  history: Catalogue['link']['history'],
): string {
  if (UNTOLD.has(field) || (from === undefined && to === undefined)) return history.touched
  if (from === undefined) return history.set
  return to === undefined ? history.removed : history.changed
}

/** Splits a template at `{noun}`, `{from}` and `{to}`, which are replaced. */
function partsOf(
  template: string,
  words: Readonly<Record<'noun' | 'from' | 'to', string>>,
): readonly Part[] {
  return template
    .split(/(\{\w+\})/)
    .filter((text) => text !== '')
    .map((text) => {
      if (text === '{noun}') return { text: words.noun, isValue: false }
      if (text === '{from}') return { text: words.from, isValue: true }
      return text === '{to}' ? { text: words.to, isValue: true } : { text, isValue: false }
    })
}

/** Undefined for no value. */
function valueText(
  field: string,
  value: unknown,
  t: Catalogue,
  formats: Formats,
): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : formats.list(value.map(String))
  if (field === 'path') return t.linkForm.pathModes[value as 'none']
  if (field === 'query') return t.linkForm.queryModes[value as 'merge']
  if (typeof value === 'number') return field === 'max_clicks' ? formats.number(value) : `${value}`
  if (typeof value !== 'string') return JSON.stringify(value)
  if (field === 'active_from' || kindOf(field) === 'instant') return formats.minute(new Date(value))
  return field === 'url' || kindOf(field)?.endsWith('destination') ? shortDestination(value) : value
}

function kindOf(field: string): string | undefined {
  return field in LINK_TEXTS ? LINK_TEXTS[field as LinkText].kind : undefined
}

/** What a revert would set back. */
export type Restored = {
  /** The fields with the values that they get. */
  readonly values: Readonly<Record<string, unknown>>
  /** Fields that were changed and keep their values: no log has the earlier ones. */
  readonly kept: readonly string[]
}

/** @param changes consecutive ones that are taken back together, newest first */
export function restoredBy(changes: readonly Change[]): Restored {
  const values: Record<string, unknown> = {}
  const kept = new Set<string>()
  for (const { before, after } of changes) {
    Object.assign(values, before)
    for (const field of Object.keys(after ?? {})) {
      if (before === null || !(field in before)) kept.add(field)
    }
  }
  return { values, kept: [...kept] }
}

/** The parameter `fields` of a revert: needed where something is kept. */
export function revertedFields({ values, kept }: Restored): RevertibleField[] | undefined {
  return kept.length === 0 ? undefined : (Object.keys(values) as RevertibleField[])
}
