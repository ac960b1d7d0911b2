import { Failure } from '../platform/failure.ts'
import type { PasswordVault } from '../platform/passwords/password-vault.ts'
import { boundToLink } from './bound-to-link.ts'
import type { Link } from './link.ts'

/** Returns the new value of `password` for a link as the transaction has read it; empty when unchanged. */
type PasswordChange = (current: Pick<Link, 'password'>) => Partial<Pick<Link, 'password'>>

/**
 * Prepares the change of a password field. Call it before the transaction that writes the link: hashing
 * the text is slow. The link's own sealed string, as the API returns it, keeps the password.
 */
export async function passwordChange(
  vault: PasswordVault,
  text: string | null | undefined,
  link: Pick<Link, 'id' | 'workspace_id'>,
): Promise<PasswordChange> {
  if (text === undefined) return () => ({})
  if (text === null) return () => ({ password: null })
  if (!vault.isSealed(text)) {
    const owner = `workspace ${link.workspace_id}`
    const password = await vault.seal(text, { boundTo: boundToLink(link.id), owner })
    return () => ({ password })
  }
  return (current) => {
    if (text !== current.password) throw foreignSeal()
    return {}
  }
}

/** Like `passwordChange`: gives a link that has no password a random one. */
export function unknownPassword(vault: PasswordVault, link: Pick<Link, 'id'>): PasswordChange {
  return (current) =>
    current.password === null ? { password: vault.sealUnknown(boundToLink(link.id)) } : {}
}

/** Hashing such a string as text would set a password that no visitor knows. */
function foreignSeal(): Failure {
  return Failure.invalid({ password: [{ code: 'sealed_elsewhere' }] })
}
