import type { Catalogue } from '../text/en.ts'

/** The name of a field of a change in the words of its form; one without such words keeps that of the API. */
export function fieldName(field: string, t: Catalogue): string {
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
  }
  return names[field] ?? field
}
