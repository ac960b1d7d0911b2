/**
 * What every node must invalidate because it changed: a host (its status, fall-backs, owner or HSTS), the
 * links of one keyspace that share a folded key, a token (by its identifier), the certificate of a host, the
 * quotas of a workspace, or the sessions of a person (by the person's identifier).
 */
export type Change =
  | { readonly kind: 'host'; readonly subject: string }
  | { readonly kind: 'link'; readonly subject: string }
  | { readonly kind: 'token'; readonly subject: string }
  | { readonly kind: 'certificate'; readonly subject: string }
  | { readonly kind: 'quota'; readonly subject: string }
  | { readonly kind: 'session'; readonly subject: string }

export function hostChange(host: string): Change {
  return { kind: 'host', subject: host }
}

export function linkChange(keyspaceId: number, foldedKey: string): Change {
  return { kind: 'link', subject: linkSubject(keyspaceId, foldedKey) }
}

export function tokenChange(id: string): Change {
  return { kind: 'token', subject: id }
}

export function certificateChange(host: string): Change {
  return { kind: 'certificate', subject: host }
}

export function quotaChange(workspaceId: string): Change {
  return { kind: 'quota', subject: workspaceId }
}

/** The sessions, the account or a membership of a person changed. */
export function sessionChange(personId: string): Change {
  return { kind: 'session', subject: personId }
}

/** The subject, in caches and the change log, of the links of one folded key. */
export function linkSubject(keyspaceId: number, foldedKey: string): string {
  return `${keyspaceId}/${foldedKey}`
}
