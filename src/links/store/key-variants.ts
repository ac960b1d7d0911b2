import type { CompiledQuery, Kysely } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import { statement } from '../../platform/database/statement.ts'
import type { LockName } from '../../platform/database/store.ts'
import { foldKey } from '../key.ts'

/** `taken`: another link has the key; `too_many_variants`: too many keys differ from it only by letter case. */
export type KeyState = 'free' | 'taken' | 'too_many_variants'

type VariantQuery = { keyspaceId: number; foldedKey: string; limit: number }

/** Finds links whose keys differ at most by letter case. */
const findVariants = statement((db, { keyspaceId, foldedKey, limit }: VariantQuery) =>
  db
    .selectFrom('links')
    .select(['seq', 'key'])
    .where('keyspace_id', '=', keyspaceId)
    .where('key_folded', '=', foldedKey)
    .limit(limit),
)

/** Reads one index entry for each variant, at most `variantsMax + 1`. */
export async function findKeyState(
  db: Kysely<Schema>,
  keyspaceId: number,
  key: string,
  variantsMax: number,
): Promise<KeyState> {
  const query = { keyspaceId, foldedKey: foldKey(key), limit: variantsMax + 1 }
  const { rows } = await findVariants(db, query)
  if (rows.some((row) => row.key === key)) return 'taken'
  return rows.length < variantsMax ? 'free' : 'too_many_variants'
}

/**
 * Returns statements that read the variants of a key. The last one returns a row per variant, at most
 * `variantsMax + 1`.
 */
export function variantStatements(
  { db, lockName }: { db: Kysely<Schema>; lockName: LockName | undefined },
  at: { readonly keyspace_id: number; readonly key: string },
  variantsMax: number,
): CompiledQuery[] {
  if (variantsMax === Number.POSITIVE_INFINITY) return []
  const query = { keyspaceId: at.keyspace_id, foldedKey: foldKey(at.key), limit: variantsMax + 1 }
  const found: CompiledQuery = findVariants.query(db, query)
  const lock = lockName?.(db, `link-variants ${query.keyspaceId}/${query.foldedKey}`)
  return lock === undefined ? [found] : [lock, found]
}
