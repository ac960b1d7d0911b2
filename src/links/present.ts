import type { LinkResource } from '@terse/contract/links'
import { formatInstant } from '../platform/time/instant.ts'
import type { Link } from './link.ts'
import { shortLink } from './short-link.ts'

/** Returns the API's form of a link, with the fields in the order of the specification. */
export function presentLink(link: Link): LinkResource {
  return {
    id: link.id,
    workspace_id: link.workspace_id,
    domain: link.domain,
    key: link.key,
    url: link.url,
    link: shortLink(link),
    ios: link.ios,
    android: link.android,
    utm_source: link.utm_source,
    utm_medium: link.utm_medium,
    utm_campaign: link.utm_campaign,
    utm_term: link.utm_term,
    utm_content: link.utm_content,
    utm_name: link.utm_name,
    clicks: link.clicks,
    last_click: link.last_click === null ? null : Math.floor(link.last_click / 1_000_000),
    external_id: link.external_id,
    password: link.password,
    expires_at: link.expires_at,
    expired_redirect_url: link.expired_redirect_url,
    tags: [...link.tags],
    created_at: formatInstant(link.created_at),
    updated_at: formatInstant(link.updated_at),
  }
}

/** Returns the response to a create of this link, in which the specification has `clicks: null`. */
export function asCreated(link: LinkResource): LinkResource {
  return { ...link, clicks: null }
}
