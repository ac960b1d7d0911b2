import { LINK_TEXT_FIELDS } from '@terse/contract/link-fields'
import type { Rule } from '@terse/contract/rules'
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { statement } from '../../storage/statement.ts'
import { foldKey } from '../key.ts'
import type { LinkAttributes } from '../link.ts'

/** The data of a host that a redirect needs. */
export type LinkHost = {
  readonly keyspaceId: number
  readonly notFoundUrl: string | null
  readonly expiredUrl: string | null
  /** The HSTS max-age in seconds; null when the host sends no HSTS header. */
  readonly hstsMaxAge: number | null
}

/** The data of a link that a redirect needs. */
export type VisitedLink = Omit<
  LinkAttributes,
  'external_id' | 'tags' | 'archived' | 'notes' | 'examples'
> & {
  readonly seq: number
  readonly id: string
  readonly workspace_id: string
  readonly key: string
}

/** How visits to a workspace's links get labels. */
export type LabelSetting = {
  /** The parameter of the query that has the label; null for no labels. */
  readonly parameter: string | null
}

/** The parameter of workspaces that have not set one: those from before labels have a row that says that they have none. */
export const USUAL_PARAMETER = 'via'

/**
 * Finds links for redirects. Read at every cache miss, so each method is one index look-up of at
 * most two rows.
 */
export type LinkDirectory = {
  /** Returns undefined for a host that no workspace has proved. */
  findActiveHost(host: string): Promise<LinkHost | undefined>
  /**
   * Returns at most two of the links whose keys differ only by letter case: enough to distinguish
   * none, one and several.
   */
  findByFoldedKey(keyspaceId: number, foldedKey: string): Promise<readonly VisitedLink[]>
  /** Returns the keys of links that take more of a path than their key, the oldest first, at most `limit`. */
  findPathKeys(keyspaceId: number, limit: number): Promise<readonly string[]>
  /** Returns the link with exactly this key. */
  findByKey(keyspaceId: number, key: string): Promise<VisitedLink | undefined>
  /** Returns the rules of a set of the workspace. */
  findRuleSet(workspaceId: string, id: string): Promise<readonly Rule[] | undefined>
  findLabelSetting(workspaceId: string): Promise<LabelSetting>
}

const findActiveHost = statement((db, { host }: { host: string }) =>
  db
    .selectFrom('domains')
    .innerJoin('keyspaces', (join) =>
      join
        .onRef('keyspaces.workspace_id', '=', 'domains.workspace_id')
        .onRef('keyspaces.host', '=', 'domains.host'),
    )
    .leftJoin('domain_hsts', 'domain_hsts.domain_id', 'domains.id')
    .select([
      'keyspaces.id as keyspaceId',
      'domains.not_found_url as notFoundUrl',
      'domains.expired_url as expiredUrl',
      'domain_hsts.max_age as hstsMaxAge',
    ])
    .where('domains.host', '=', host)
    // A literal: with a parameter the partial index of active hosts could not be used right away.
    .where('domains.status', '=', sql.lit('active')),
)

const VISITED_COLUMNS = [
  'seq',
  'id',
  'workspace_id',
  'key',
  'url',
  ...LINK_TEXT_FIELDS,
  ...(['rules', 'max_clicks', 'active_from', 'path', 'query', 'rule_set'] as const),
] as const

type FoldedKey = { keyspaceId: number; foldedKey: string }

const findByFoldedKey = statement((db, { keyspaceId, foldedKey }: FoldedKey) =>
  selectVariants(db, { keyspaceId, foldedKey }).limit(sql.lit(2)),
)

const findByKey = statement((db, { key, ...folded }: FoldedKey & { key: string }) =>
  selectVariants(db, folded).where('key', '=', key),
)

const findRuleSet = statement((db, set: { workspaceId: string; id: string }) =>
  db
    .selectFrom('rule_sets')
    .select('rules')
    .where('workspace_id', '=', set.workspaceId)
    .where('id', '=', set.id),
)

const findPathKeys = statement((db, { keyspaceId, limit }: { keyspaceId: number; limit: number }) =>
  db
    .selectFrom('links')
    .select('key')
    .where('keyspace_id', '=', keyspaceId)
    // A literal: with a parameter the partial index of such links could not be used.
    .where('path', '<>', sql.lit('none'))
    .orderBy('seq')
    .limit(limit),
)

const findLabelSetting = statement((db, { workspaceId }: { workspaceId: string }) =>
  db.selectFrom('label_settings').select('parameter').where('workspace_id', '=', workspaceId),
)

export function linkDirectory(db: Kysely<Schema>): LinkDirectory {
  return {
    findActiveHost: async (host) => (await findActiveHost(db, { host })).rows[0],
    findByFoldedKey: async (keyspaceId, foldedKey) =>
      (await findByFoldedKey(db, { keyspaceId, foldedKey })).rows.map(withRules),
    findPathKeys: async (keyspaceId, limit) =>
      (await findPathKeys(db, { keyspaceId, limit })).rows.map(({ key }) => key),
    async findByKey(keyspaceId, key) {
      const [row] = (await findByKey(db, { keyspaceId, foldedKey: foldKey(key), key })).rows
      return row && withRules(row)
    },
    async findRuleSet(workspaceId, id) {
      const [row] = (await findRuleSet(db, { workspaceId, id })).rows
      return row && JSON.parse(row.rules)
    },
    async findLabelSetting(workspaceId) {
      const [row] = (await findLabelSetting(db, { workspaceId })).rows
      return row ?? { parameter: USUAL_PARAMETER }
    },
  }
}

function withRules<R extends { readonly rules: string | null }>(row: R) {
  return { ...row, rules: row.rules === null ? null : JSON.parse(row.rules) }
}

/** Selects the links whose keys differ only by letter case. */
function selectVariants(db: Kysely<Schema>, { keyspaceId, foldedKey }: FoldedKey) {
  return db
    .selectFrom('links')
    .select(VISITED_COLUMNS)
    .where('keyspace_id', '=', keyspaceId)
    .where('key_folded', '=', foldedKey)
}
