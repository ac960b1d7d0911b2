import type { RobotsPolicy } from '@terse/contract/domain-settings'
import {
  LINK_TEXT_FIELDS,
  USUAL_LABEL_PARAMETER,
  USUAL_TOKEN_PARAMETER,
} from '@terse/contract/link-fields'
import type { Rule } from '@terse/contract/rules'
import { type Kysely, sql } from 'kysely'
import { ruleSetSubject } from '../../storage/changes.ts'
import type { Schema } from '../../storage/schema.ts'
import { statement } from '../../storage/statement.ts'
import { foldKey } from '../key.ts'
import type { LinkAttributes } from '../link.ts'
import { booleanOrNull } from './link-rows.ts'

/** The data of a host that a redirect needs. */
export type LinkHost = {
  readonly keyspaceId: number
  readonly notFoundUrl: string | null
  readonly expiredUrl: string | null
  /** The HSTS max-age in seconds; null when the host sends no HSTS header. */
  readonly hstsMaxAge: number | null
  /** Null for nearly every host: it has those of a new domain. */
  readonly settings: HostSettings | null
}

/** A document of a host, by the name of its setting. */
export type HostDocument = 'apple_app_site_association' | 'assetlinks'

/** What a host does besides its links. */
type HostSettings = {
  readonly rootUrl: string | null
  readonly robots: RobotsPolicy | null
  /** UTM values for destinations without a parameter of this name. */
  readonly utm: Readonly<Record<string, string>> | null
  /** The subject, in the change log, of the rule set that is tried last; null for none. */
  readonly ruleSet: string | null
  /** Whether destinations of links that do not say so get a token; null for what their workspace has. */
  readonly tracksConversions: boolean | null
  /** Those that it has. */
  readonly documents: readonly HostDocument[]
}

/** The data of a link that a redirect needs. */
export type VisitedLink = Omit<
  LinkAttributes,
  'external_id' | 'tags' | 'archived' | 'notes' | 'examples' | 'managed_by' | 'prevent_delete'
> & {
  readonly seq: number
  readonly id: string
  readonly workspace_id: string
  readonly key: string
}

/** What a workspace has for visits to all of its links. */
export type VisitSettings = {
  /** The parameter of the visitor's query that has the label; null for no labels. */
  readonly labelParameter: string | null
  /** The parameter of destinations that has the token. */
  readonly tokenParameter: string
  /** Whether destinations get a token where neither link nor domain says. */
  readonly tracksConversions: boolean
}

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
  findVisitSettings(workspaceId: string): Promise<VisitSettings>
  /** Returns a document of an active host, as JSON. */
  findDocument(host: string, document: HostDocument): Promise<string | undefined>
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
    .leftJoin('domain_settings as settings', 'settings.domain_id', 'domains.id')
    .select([
      'keyspaces.id as keyspaceId',
      'domains.not_found_url as notFoundUrl',
      'domains.expired_url as expiredUrl',
      'domain_hsts.max_age as hstsMaxAge',
      'domains.workspace_id as workspaceId',
      ...(['settings.root_url', 'settings.robots', 'settings.utm', 'settings.rule_set'] as const),
      'settings.track_conversions',
      (eb) => eb('settings.apple_app_site_association', 'is not', null).as('hasAppleDocument'),
      (eb) => eb('settings.assetlinks', 'is not', null).as('hasAssetLinks'),
      'settings.updated_at as settledAt',
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
  ...(['title', 'description', 'image', 'track_conversions'] as const),
] as const

type FoldedKey = { keyspaceId: number; foldedKey: string }

const findByFoldedKey = statement((db, { keyspaceId, foldedKey }: FoldedKey) =>
  selectVariants(db, { keyspaceId, foldedKey }).limit(sql.lit(2)),
)

const findByKey = statement((db, { key, ...folded }: FoldedKey & { key: string }) =>
  selectVariants(db, folded).where('key', '=', key),
)

const findDocument = {
  apple_app_site_association: statement((db, { host }: { host: string }) =>
    selectSettings(db, host).select('settings.apple_app_site_association as json'),
  ),
  assetlinks: statement((db, { host }: { host: string }) =>
    selectSettings(db, host).select('settings.assetlinks as json'),
  ),
}

function selectSettings(db: Kysely<Schema>, host: string) {
  return db
    .selectFrom('domains')
    .innerJoin('domain_settings as settings', 'settings.domain_id', 'domains.id')
    .where('domains.host', '=', host)
    .where('domains.status', '=', sql.lit('active'))
}

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

const findVisitSettings = statement((db, { workspaceId }: { workspaceId: string }) =>
  db
    .selectFrom('workspaces')
    .leftJoin('label_settings as labels', 'labels.workspace_id', 'workspaces.id')
    .leftJoin('conversion_settings as conversions', 'conversions.workspace_id', 'workspaces.id')
    .select([
      'labels.workspace_id as labelled',
      'labels.parameter as labelParameter',
      'conversions.parameter as tokenParameter',
      'conversions.track_conversions as tracksConversions',
    ])
    .where('workspaces.id', '=', workspaceId),
)

export function linkDirectory(db: Kysely<Schema>): LinkDirectory {
  return {
    async findActiveHost(host) {
      const [row] = (await findActiveHost(db, { host })).rows
      return row && withSettings(row)
    },
    findByFoldedKey: async (keyspaceId, foldedKey) =>
      (await findByFoldedKey(db, { keyspaceId, foldedKey })).rows.map(withRules),
    findPathKeys: async (keyspaceId, limit) =>
      (await findPathKeys(db, { keyspaceId, limit })).rows.map(({ key }) => key),
    async findByKey(keyspaceId, key) {
      const [row] = (await findByKey(db, { keyspaceId, foldedKey: foldKey(key), key })).rows
      return row && withRules(row)
    },
    async findDocument(host, document) {
      const { json = null } = (await findDocument[document](db, { host })).rows[0] ?? {}
      return json ?? undefined
    },
    async findRuleSet(workspaceId, id) {
      const [row] = (await findRuleSet(db, { workspaceId, id })).rows
      return row && JSON.parse(row.rules)
    },
    async findVisitSettings(workspaceId) {
      const [row] = (await findVisitSettings(db, { workspaceId })).rows
      const isLabelled = row !== undefined && row.labelled !== null
      return {
        labelParameter: isLabelled ? row.labelParameter : USUAL_LABEL_PARAMETER,
        tokenParameter: row?.tokenParameter ?? USUAL_TOKEN_PARAMETER,
        tracksConversions: row?.tracksConversions === 1,
      }
    },
  }
}

type HostRow = Omit<LinkHost, 'settings'> & {
  readonly workspaceId: string
  readonly root_url: string | null
  readonly robots: RobotsPolicy | null
  readonly utm: string | null
  readonly rule_set: string | null
  readonly track_conversions: number | null
  /** Numbers on SQLite. */
  readonly hasAppleDocument: unknown
  readonly hasAssetLinks: unknown
  /** Null for a domain whose settings were never changed. */
  readonly settledAt: number | null
}

function withSettings({
  keyspaceId,
  notFoundUrl,
  expiredUrl,
  hstsMaxAge,
  ...row
}: HostRow): LinkHost {
  const host = { keyspaceId, notFoundUrl, expiredUrl, hstsMaxAge }
  if (row.settledAt === null) return { ...host, settings: null }
  const documents: HostDocument[] = []
  if (row.hasAppleDocument) documents.push('apple_app_site_association')
  if (row.hasAssetLinks) documents.push('assetlinks')
  const settings = {
    rootUrl: row.root_url,
    robots: row.robots,
    utm: row.utm === null ? null : JSON.parse(row.utm),
    ruleSet: row.rule_set === null ? null : ruleSetSubject(row.workspaceId, row.rule_set),
    tracksConversions: booleanOrNull(row.track_conversions),
    documents,
  }
  return { ...host, settings }
}

function withRules<
  R extends { readonly rules: string | null; readonly track_conversions: number | null },
>(row: R) {
  const rules = row.rules === null ? null : JSON.parse(row.rules)
  return { ...row, rules, track_conversions: booleanOrNull(row.track_conversions) }
}

/** Selects the links whose keys differ only by letter case. */
function selectVariants(db: Kysely<Schema>, { keyspaceId, foldedKey }: FoldedKey) {
  return db
    .selectFrom('links')
    .select(VISITED_COLUMNS)
    .where('keyspace_id', '=', keyspaceId)
    .where('key_folded', '=', foldedKey)
}
