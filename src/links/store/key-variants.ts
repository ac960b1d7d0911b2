import type { Kysely } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import { statement } from '../../platform/database/statement.ts'
import { foldKey } from '../key.ts'

/** `taken`: another link has the key; `too_many_variants`: too many keys differ from it only by letter case. */
export type KeyState = 'free' | 'taken' | 'too_many_variants'

type VariantQuery = { keyspaceId: number; foldedKey: string; limit: number }

/** Finds links whose keys differ at most by letter case. */
export const findVariants = statement((db, { keyspaceId, foldedKey, limit }: VariantQuery) =>
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
