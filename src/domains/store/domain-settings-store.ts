import type {
  AppleDocument,
  AssetLinksDocument,
  RobotsPolicy,
} from '@terse/contract/domain-settings'
import type { UtmField } from '@terse/contract/link-fields'
import type { Kysely, Selectable } from 'kysely'
import type { Managed } from '../../storage/managed.ts'
import type { Schema } from '../../storage/schema.ts'
import { StaleRow } from '../../storage/store.ts'

/** What a domain does besides its links, in its stored form. */
export type DomainSettings = Managed & {
  readonly domain_id: string
  readonly workspace_id: string
  /** Where visits to the bare host go; null for `not_found_url`. */
  readonly root_url: string | null
  readonly robots: RobotsPolicy | null
  /** Values for destinations without a parameter of this name; those that are set, at least one. */
  readonly utm: { readonly [F in UtmField]?: string } | null
  /** The id of the rule set that is tried after those of each link. */
  readonly rule_set: string | null
  /** Null for what the workspace has. */
  readonly track_conversions: boolean | null
  readonly apple_app_site_association: AppleDocument | null
  readonly assetlinks: AssetLinksDocument | null
  /** Microseconds since the epoch; rises with every update. */
  readonly updated_at: number
}

export type DomainSettingsStore = {
  /** Undefined for a domain whose settings were never changed. */
  find(domainId: string): Promise<DomainSettings | undefined>
  /** Returns the settings of these domains by their ids; nothing for those whose settings were never changed. */
  list(domainIds: readonly string[]): Promise<ReadonlyMap<string, DomainSettings>>
  /**
   * Writes the settings of a domain.
   *
   * @param readAt `updated_at` of the settings that were read; undefined when there were none
   * @throws {StaleRow} when they were changed since
   */
  save(settings: DomainSettings, readAt: number | undefined): Promise<void>
  /** Returns the hosts whose default rule set it is, by name, at most `limit`. */
  hostsWithRuleSet(workspaceId: string, ruleSetId: string, limit: number): Promise<string[]>
  /** Returns how many domains have each rule set as their default; nothing for sets that none has. */
  countByRuleSet(workspaceId: string): Promise<ReadonlyMap<string, number>>
}

export function domainSettingsStore(db: Kysely<Schema>): DomainSettingsStore {
  return {
    async find(domainId) {
      const row = await db
        .selectFrom('domain_settings')
        .selectAll()
        .where('domain_id', '=', domainId)
        .executeTakeFirst()
      return row && fromRow(row)
    },

    async list(domainIds) {
      const rows = await db
        .selectFrom('domain_settings')
        .selectAll()
        .where('domain_id', 'in', [...domainIds])
        .execute()
      return new Map(rows.map((row) => [row.domain_id, fromRow(row)]))
    },

    async save(settings, readAt) {
      const row = toRow(settings)
      if (readAt === undefined) {
        const { numInsertedOrUpdatedRows } = await db
          .insertInto('domain_settings')
          .values(row)
          .onConflict((conflict) => conflict.column('domain_id').doNothing())
          .executeTakeFirstOrThrow()
        if (numInsertedOrUpdatedRows === 0n) throw new StaleRow()
        return
      }
      const { domain_id, workspace_id, ...values } = row
      const { numUpdatedRows } = await db
        .updateTable('domain_settings')
        .set(values)
        .where('domain_id', '=', domain_id)
        .where('updated_at', '=', readAt)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new StaleRow()
    },

    async hostsWithRuleSet(workspaceId, ruleSetId, limit) {
      const rows = await db
        .selectFrom('domain_settings as settings')
        .innerJoin('domains', 'domains.id', 'settings.domain_id')
        .select('domains.host')
        .where('settings.workspace_id', '=', workspaceId)
        .where('settings.rule_set', '=', ruleSetId)
        .orderBy('domains.host')
        .limit(limit)
        .execute()
      return rows.map(({ host }) => host)
    },

    async countByRuleSet(workspaceId) {
      const rows = await db
        .selectFrom('domain_settings')
        .select((eb) => ['rule_set', eb.fn.countAll<number>().as('count')])
        .where('workspace_id', '=', workspaceId)
        .where('rule_set', 'is not', null)
        .groupBy('rule_set')
        .execute()
      return new Map(rows.map(({ rule_set, count }) => [rule_set ?? '', Number(count)]))
    },
  }
}

type Row = Selectable<Schema['domain_settings']>

function toRow({
  utm,
  track_conversions,
  apple_app_site_association,
  assetlinks,
  ...settings
}: DomainSettings): Row {
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value))
  return {
    ...settings,
    utm: json(utm),
    track_conversions: track_conversions === null ? null : Number(track_conversions),
    apple_app_site_association: json(apple_app_site_association),
    assetlinks: json(assetlinks),
  }
}

function fromRow({
  utm,
  track_conversions,
  apple_app_site_association,
  assetlinks,
  ...row
}: Row): DomainSettings {
  const parsed = (text: string | null) => (text === null ? null : JSON.parse(text))
  return {
    ...row,
    utm: parsed(utm),
    track_conversions: track_conversions === null ? null : track_conversions !== 0,
    apple_app_site_association: parsed(apple_app_site_association),
    assetlinks: parsed(assetlinks),
  }
}
