import type { CompatLink } from '../links.ts'

/** A refusal in Bitly's own words. */
export class BitlyRefusal extends Error {
  override readonly name = 'BitlyRefusal'
  readonly status: number
  /** The field of the request that is wrong. */
  readonly field: string | undefined

  constructor(status: number, message: string, field?: string) {
    super(message)
    this.status = status
    this.field = field
  }
}

/** @throws {BitlyRefusal} for a field that has no or a wrong value */
export function refuseField(field: string): never {
  throw new BitlyRefusal(400, `INVALID_ARG_${field.toUpperCase()}`, field)
}

/** `2020-02-26T00:00:00+0000`. */
export function formatDate(instant: number | string): string {
  return `${new Date(instant).toISOString().slice(0, 19)}+0000`
}

export function presentBitlink(link: CompatLink, groupUrl: string) {
  const { options, url, tags, created_at } = link
  return {
    ...identify(link),
    custom_bitlinks: [],
    long_url: url,
    ...(options.notes !== null && { title: options.notes }),
    archived: options.archived,
    created_at: formatDate(created_at),
    tags,
    deeplinks: [],
    references: { group: groupUrl },
  }
}

export function presentExpanded(link: CompatLink) {
  return { ...identify(link), long_url: link.url, created_at: formatDate(link.created_at) }
}

/** An id is the link without its scheme, so that it can be part of a path. */
function identify({ link }: CompatLink) {
  return { id: link.replace(/^https?:\/\//, ''), link }
}

export type Workspace = {
  readonly name: string
  readonly title: string
  readonly created_at: string
}

/** A token stands for no person: its user is the workspace. */
export function presentUser({ name, title, created_at }: Workspace, guid: string) {
  const created = formatDate(created_at)
  return {
    login: name,
    name: title,
    is_active: true,
    created,
    modified: created,
    is_sso_user: false,
    is_2fa_enabled: false,
    emails: [],
    default_group_guid: guid,
  }
}

export function presentGroup(
  { title, created_at }: Workspace,
  guid: string,
  domains: readonly string[],
) {
  const created = formatDate(created_at)
  return {
    guid,
    organization_guid: guid,
    name: title,
    bsds: domains,
    created,
    modified: created,
    is_active: true,
    role: 'org-admin',
  }
}
