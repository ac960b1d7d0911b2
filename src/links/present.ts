import type { LinkResource } from '@terse/contract/links'
import { formatInstant } from '../platform/time/instant.ts'
import type { Link } from './link.ts'
import { shortLink } from './short-link.ts'

/** A link as the API shows it, in the order of the specification's table. */
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

/** A link in the answer to its creation, where the specification shows no count yet. */
export function presentCreatedLink(link: Link): LinkResource {
  return { ...presentLink(link), clicks: null }
}
