import type { Token } from './token.ts'

export type TokenStore = {
  /** @param hash of the secret */
  findByHash(hash: string): Promise<Token | undefined>
  insert(token: Token, hash: string): Promise<void>
  /** Oldest first; of one workspace, or of all. */
  list(workspaceId: string | undefined): Promise<readonly Token[]>
  /** False when there is no such token, or it was revoked before. */
  revoke(id: string, atMicros: number): Promise<boolean>
  noteUse(id: string, atMicros: number): Promise<void>
}
