import { Failure } from '../platform/failure.ts'
import type { PasswordVault } from '../platform/passwords/password-vault.ts'
import { boundToLink } from './bound-to-link.ts'
import type { Link } from './link.ts'

/** Returns what an input changes of the password that a link has when it is written. */
type PasswordChange = (current: Pick<Link, 'password'>) => Partial<Pick<Link, 'password'>>

/**
 * Prepares the change of a password field. A text is hashed here, which is slow, so call this before the
 * transaction that writes the link. The sealed form that the link has leaves it as it is.
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

/** Taken as a text, it would protect the link with something that no visitor types. */
function foreignSeal(): Failure {
  return Failure.invalid({ password: ['is the sealed form of another password; send the text'] })
}
