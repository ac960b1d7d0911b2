import {
  changedFields,
  type EventFields,
  type NewEvent,
  setFields,
} from '../platform/events/event-writer.ts'
import { type LinkAttributes, type UncountedLink, UTM_FIELDS } from './link.ts'

type LoggedLink = Pick<UncountedLink, 'id' | 'domain' | 'key'> & LinkAttributes

/** Stands in for a new password: the log never contains passwords, sealed ones included. */
const PASSWORD_CHANGED = { password: 'changed' }

export function linkCreated(link: LoggedLink): NewEvent {
  const after = setFields(fieldsOf(link))
  if (link.password !== null) Object.assign(after, PASSWORD_CHANGED)
  return { type: 'link.created', subjectId: link.id, before: null, after }
}

export function linkUpdated(from: LoggedLink, to: LoggedLink): NewEvent {
  const { before, after } = changedFields(fieldsOf(from), fieldsOf(to))
  return {
    type: 'link.updated',
    subjectId: to.id,
    before,
    after: { ...after, ...(from.password === to.password ? {} : PASSWORD_CHANGED) },
  }
}

export function linkDeleted(link: LoggedLink): NewEvent {
  const before = setFields(fieldsOf(link))
  return { type: 'link.deleted', subjectId: link.id, before, after: null }
}

/** Returns the fields that a link's owner sets, except the password. */
function fieldsOf(link: LoggedLink): EventFields {
  const fields: Record<string, unknown> = {
    domain: link.domain,
    key: link.key,
    url: link.url,
    ios: link.ios,
    android: link.android,
    external_id: link.external_id,
    expires_at: link.expires_at,
    expired_redirect_url: link.expired_redirect_url,
    tags: link.tags,
  }
  for (const field of UTM_FIELDS) fields[field] = link[field]
  return fields
}
