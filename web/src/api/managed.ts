import type { LinkOptionsResource } from '@terse/contract/link-options'
import type { LinkResource } from '@terse/contract/links'
import { ifMatch, requestVersioned } from './request.ts'

/** The mark of what a set of links as code manages: of a link, a rule set, a template or the settings of a domain. */
export type Managed = Pick<LinkOptionsResource, 'managed_by' | 'managed_at'> & {
  readonly updated_at: string | null
}

export function markOfLink({
  options: { managed_by, managed_at },
  updated_at,
}: LinkResource & { readonly options: LinkOptionsResource }): Managed {
  return { managed_by, managed_at, updated_at }
}

/** Whether something else than its set has changed it since. Instants are texts of one form. */
export function isEdited({ managed_at, updated_at }: Managed): boolean {
  return managed_at !== null && updated_at !== null && updated_at > managed_at
}

/**
 * Takes the mark away, and returns the version that this leads to.
 *
 * @param version fails with 412 where the thing has another one by now
 */
export async function release(
  path: string,
  version: string | undefined,
): Promise<string | undefined> {
  const body = { managed_by: null }
  const headers = ifMatch(version)
  return (await requestVersioned(path, { method: 'PATCH', body, headers })).version
}
