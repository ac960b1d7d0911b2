import { type LinkDoes, NO_OPTIONS } from '@terse/contract/link-fields'
import { type ExpressionBuilder, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { foldKey } from '../key.ts'
import type { LinkAddress, LinkFilter, LinkSortField, LinkState } from '../link-query.ts'

/** As it is stored. */
const NO_TAGS = '[]'

/** An exclusive range of link numbers; an undefined end is open. */
export type SeqRange = { readonly after: number | undefined; readonly before: number | undefined }

/** Builds the condition of a list's filters within a range of link numbers. */
export function matches(filter: LinkFilter, range?: SeqRange) {
  return (eb: ExpressionBuilder<Schema, 'links'>) => {
    const { workspaceId, search, shortLink } = filter
    const conditions = [eb('links.workspace_id', '=', workspaceId)]
    if (range?.after !== undefined) conditions.push(eb('links.seq', '>', range.after))
    if (range?.before !== undefined) conditions.push(eb('links.seq', '<', range.before))
    if (filter.hosts !== undefined) conditions.push(isOnHost(eb, workspaceId, filter.hosts))
    if (filter.key !== undefined) {
      conditions.push(
        eb('links.key_folded', '=', foldKey(filter.key)),
        eb('links.key', '=', filter.key),
      )
    }
    if (filter.externalId !== undefined) {
      conditions.push(eb('links.external_id', '=', filter.externalId))
    }
    if (filter.managedBy !== undefined) {
      conditions.push(eb('links.managed_by', '=', filter.managedBy))
    }
    if (filter.createdFrom !== undefined) {
      conditions.push(eb('links.created_at', '>=', filter.createdFrom))
    }
    if (filter.createdTo !== undefined) {
      conditions.push(eb('links.created_at', '<', filter.createdTo))
    }
    if (filter.archived !== undefined) conditions.push(isArchived(eb, filter.archived))
    if (filter.url !== undefined) conditions.push(eb('links.url', '=', filter.url))
    for (const state of filter.states ?? []) conditions.push(isIn(eb, state, filter.now ?? ''))
    for (const one of filter.does ?? []) conditions.push(doing(eb, one, filter.now ?? ''))
    for (const tag of filter.tags ?? []) {
      const tagged = eb
        .selectFrom('link_tags')
        .select('link_tags.link_seq')
        .where('link_tags.workspace_id', '=', workspaceId)
        .where('link_tags.tag', '=', tag)
        .$if(range?.after !== undefined, (qb) =>
          qb.where('link_tags.link_seq', '>', range?.after ?? 0),
        )
        .$if(range?.before !== undefined, (qb) =>
          qb.where('link_tags.link_seq', '<', range?.before ?? 0),
        )
      conditions.push(eb('links.seq', 'in', tagged))
    }
    const found = [
      ...(search === undefined ? [] : [contains(eb, search)]),
      ...(shortLink === undefined ? [] : [isAt(eb, workspaceId, shortLink)]),
    ]
    if (found.length > 0) conditions.push(eb.or(found))
    return eb.and(conditions)
  }
}

/** A literal: with a parameter the index of links that are not archived could not be used. */
export function isArchived(eb: ExpressionBuilder<Schema, 'links'>, archived: boolean) {
  return eb('links.archived', '=', sql.lit(archived ? 1 : 0))
}

function isOnHost(
  eb: ExpressionBuilder<Schema, 'links'>,
  workspaceId: string,
  hosts: readonly string[],
) {
  return eb('links.keyspace_id', 'in', keyspacesOf(eb, workspaceId, hosts))
}

/** Selects the keyspaces in which a workspace may have links: on some hosts, or on all of its hosts. */
export function keyspacesOf(
  eb: ExpressionBuilder<Schema, 'links'>,
  workspaceId: string,
  hosts: readonly string[] | undefined,
) {
  return eb
    .selectFrom('keyspaces')
    .select('keyspaces.id')
    .$if(hosts !== undefined, (qb) => qb.where('keyspaces.host', 'in', hosts ?? []))
    .where((k) =>
      k.or([
        k('keyspaces.workspace_id', '=', workspaceId),
        k('keyspaces.workspace_id', 'is', null),
      ]),
    )
}

/** Instants are compared as texts, which all have the same form. */
function isIn(eb: ExpressionBuilder<Schema, 'links'>, state: LinkState, now: string) {
  if (state === 'protected') return eb('links.password', 'is not', null)
  if (state === 'expired') return eb('links.expires_at', '<=', now)
  return eb.or([eb('links.expires_at', 'is', null), eb('links.expires_at', '>', now)])
}

/** Rules are JSON, in which no text that a person wrote has a quote without a backslash before it. */
const SPLITS = '%"split":[%'

function doing(eb: ExpressionBuilder<Schema, 'links'>, does: LinkDoes, now: string) {
  switch (does) {
    case 'rules':
      return eb('links.rules', 'is not', null)
    case 'splits':
      return eb('links.rules', 'like', SPLITS)
    case 'rule_set':
      return eb('links.rule_set', 'is not', null)
    case 'limit':
      return eb('links.max_clicks', 'is not', null)
    case 'starts':
      return eb('links.active_from', '>', now)
    case 'expires':
      return eb('links.expires_at', 'is not', null)
    case 'path':
      return eb('links.path', '<>', NO_OPTIONS.path)
    case 'query':
      return eb('links.query', '<>', NO_OPTIONS.query)
    case 'preview':
      return hasOneOf(eb, ['title', 'description', 'image'])
    case 'targets':
      return hasOneOf(eb, ['ios', 'android'])
    case 'password':
      return eb('links.password', 'is not', null)
    case 'notes':
      return eb('links.notes', 'is not', null)
    default:
      return does satisfies never
  }
}

function hasOneOf(
  eb: ExpressionBuilder<Schema, 'links'>,
  fields: readonly ('title' | 'description' | 'image' | 'ios' | 'android')[],
) {
  return eb.or(fields.map((field) => eb(`links.${field}`, 'is not', null)))
}

function isAt(
  eb: ExpressionBuilder<Schema, 'links'>,
  workspaceId: string,
  { host, key }: LinkAddress,
) {
  return eb.and([isOnHost(eb, workspaceId, [host]), eb('links.key_folded', '=', foldKey(key))])
}

/**
 * Looks up each link's tags by its number, so that the cost depends only on the links in the range. A link
 * without tags is not looked up, which saves a third of the time of a search if most have none.
 */
function contains(eb: ExpressionBuilder<Schema, 'links'>, text: string) {
  const escaped = (part: string) => `%${part.replace(/[\\%_]/g, '\\$&')}%`
  const pattern = escaped(foldKey(text))
  const tagged = eb
    .selectFrom('link_tags')
    .select('link_tags.link_seq')
    .whereRef('link_tags.link_seq', '=', 'links.seq')
    .where(sql<boolean>`link_tags.tag_folded like ${pattern} escape '\\'`)
  return eb.or([
    sql<boolean>`links.key_folded like ${pattern} escape '\\'`,
    sql<boolean>`lower(links.url) like ${pattern} escape '\\'`,
    eb.and([eb('links.tags', '<>', NO_TAGS), eb.exists(tagged)]),
    // They are not stored folded, and SQLite folds ASCII alone: other letters match as they were typed, too.
    eb.and([
      eb('links.notes', 'is not', null),
      eb.or([
        sql<boolean>`lower(links.notes) like ${pattern} escape '\\'`,
        sql<boolean>`links.notes like ${escaped(text)} escape '\\'`,
      ]),
    ]),
  ])
}

/** Whether the field is in `link_clicks` rather than in `links`. */
export function isCounted(field: LinkSortField): boolean {
  return field === 'clicks' || field === 'last_click'
}

/** Returns the sort expression of a list; ties are sorted by link number. */
export function sortedBy(field: LinkSortField) {
  // The engines sort null differently; here links that were never clicked sort lowest.
  if (field === 'last_click') return sql<number>`coalesce(link_clicks.last_click, -1)`
  if (field === 'clicks') return sql<number>`coalesce(link_clicks.clicks, 0)`
  return sql.ref<number | string>(field === 'created_at' ? 'links.seq' : `links.${field}`)
}
