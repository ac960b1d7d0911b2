import type { EventResource } from '../../../api/events.ts'
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
 * @param names the names of members, domains, tokens, templates and workspaces by their identifiers
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
    ...(isLink && event.subject_id !== null && { linkId: event.subject_id }),
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
  { type, subject_id: id, subject_name: name, before, after }: EventResource,
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
    // What a creation and a deletion hold is the name that it had then.
    const key = text('key')
    return key === undefined || text('domain') === undefined
      ? (name ?? t.audit.aLink)
      : `${text('domain')}/${key}`
  }
  const known = id === null ? undefined : names.get(id)
  if (noun === 'domain' || noun === 'certificate') {
    return known ?? text('domain') ?? text('host') ?? t.audit.aDomain
  }
  if (noun === 'token') return known ?? text('name') ?? t.audit.aToken
  if (noun === 'utm_template') return known ?? text('name') ?? t.audit.aTemplate
  if (noun === 'workspace') return known ?? text('name') ?? t.audit.aWorkspace
  return known ?? text('name') ?? text('email') ?? t.audit.somebody
}
