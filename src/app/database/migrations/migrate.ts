import { type Kysely, sql } from 'kysely'
import type { Clock } from '../../../platform/time/clock.ts'
import type { ColumnTypes, Migration } from '../../../storage/migration.ts'
import type { Schema } from '../../../storage/schema.ts'
import { foundation } from './001-foundation.ts'
import { visitorSalts } from './002-visitor-salts.ts'
import { certificates } from './003-certificates.ts'
import { acme } from './004-acme.ts'
import { nodes } from './005-nodes.ts'
import { fairLeases } from './006-fair-leases.ts'
import { fileMarks } from './007-file-marks.ts'
import { quotas } from './008-quotas.ts'
import { rawClickCount } from './009-raw-click-count.ts'
import { events } from './010-events.ts'
import { people } from './011-people.ts'
import { eventSubjects } from './012-event-subjects.ts'
import { utmTemplates } from './013-utm-templates.ts'
import { imports } from './014-imports.ts'
import { clickSpools } from './015-click-spools.ts'
import { erasures } from './016-erasures.ts'
import { importAttempts } from './017-import-attempts.ts'
import { eventAuthors } from './018-event-authors.ts'
import { erasurePasses } from './019-erasure-passes.ts'
import { groupBindings } from './020-group-bindings.ts'
import { untrustedProxies } from './021-untrusted-proxies.ts'
import { grantMakers } from './022-grant-makers.ts'
import { provedAddresses } from './023-proved-addresses.ts'
import { dryRunClicks } from './024-dry-run-clicks.ts'
import { externalIds } from './025-external-ids.ts'
import { domainVerdicts } from './026-domain-verdicts.ts'
import { defaultDomains } from './027-default-domains.ts'
import { workspaceTitles } from './028-workspace-titles.ts'
import { linkRules } from './029-link-rules.ts'
import { clickRules } from './030-click-rules.ts'
import { linkOptions } from './031-link-options.ts'
import { archivedLinks } from './032-archived-links.ts'
import { ruleSets } from './033-rule-sets.ts'
import { linkPaths } from './034-link-paths.ts'
import { clickLimits } from './035-click-limits.ts'
import { labels } from './036-labels.ts'
import { linkExamples } from './037-link-examples.ts'
import { domainSettings } from './038-domain-settings.ts'
import { clickPlaces } from './039-click-places.ts'
import { linkPreviews } from './040-link-previews.ts'
import { webhooks } from './041-webhooks.ts'
import { linkMilestones } from './042-link-milestones.ts'
import { conversions } from './045-conversions.ts'
import { conversionScopes } from './046-conversion-scopes.ts'
import { assistants } from './048-assistants.ts'
import { compat } from './049-compat.ts'
import { managedLinks } from './050-managed-links.ts'
import { clickIntents } from './051-click-intents.ts'
import { returnedClicks } from './052-returned-clicks.ts'
import { refuseUnreleased } from './unreleased-schema.ts'

/** All steps in order. A database's version is the number of steps applied to it. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  visitorSalts,
  certificates,
  acme,
  nodes,
  fairLeases,
  fileMarks,
  quotas,
  rawClickCount,
  events,
  people,
  eventSubjects,
  utmTemplates,
  imports,
  clickSpools,
  erasures,
  importAttempts,
  eventAuthors,
  erasurePasses,
  groupBindings,
  untrustedProxies,
  grantMakers,
  provedAddresses,
  dryRunClicks,
  externalIds,
  domainVerdicts,
  defaultDomains,
  workspaceTitles,
  linkRules,
  clickRules,
  linkOptions,
  archivedLinks,
  ruleSets,
  linkPaths,
  clickLimits,
  labels,
  linkExamples,
  domainSettings,
  clickPlaces,
  linkPreviews,
  conversions,
  webhooks,
  linkMilestones,
  conversionScopes,
  assistants,
  compat,
  managedLinks,
  clickIntents,
  returnedClicks,
]

/** The schema version of this program. */
export const SCHEMA_VERSION = MIGRATIONS.length

export type MigrationDatabase = {
  readonly db: Kysely<Schema>
  readonly types: ColumnTypes
  readonly clock: Clock
  /** The file of counted clicks, when they are not in the same database. */
  readonly clicks?: Kysely<Schema>
  /**
   * Runs `work` in a transaction that excludes all other migrating processes. The lock is released
   * with the connection, so a killed process does not keep it.
   */
  exclusively<T>(work: (tx: Kysely<Schema>) => Promise<T>): Promise<T>
}

/**
 * Migrates the database to this program's schema, one transaction per step. A killed process leaves
 * it between two steps, and the next process continues from there.
 *
 * @throws when the database is too new for the program; nothing is changed
 */
export async function migrate(database: MigrationDatabase): Promise<void> {
  if ((await currentVersion(database.db)) >= SCHEMA_VERSION) return
  for (const [index, migration] of MIGRATIONS.entries()) {
    const version = index + 1
    const { name, servedFrom, servedFromOnFiles = servedFrom } = migration
    await database.exclusively(async (tx) => {
      if ((await currentVersion(tx)) >= version) return
      await migration.up(tx, database.types, database.clicks ?? tx)
      await tx
        .insertInto('schema_migrations')
        .values({
          version,
          name,
          applied_at: database.clock.nowMicros(),
          served_from: database.clicks === undefined ? servedFrom : servedFromOnFiles,
        })
        .execute()
    })
  }
}

/**
 * Returns the database's schema version; 0 for an empty database. It may be newer than this
 * program's when the program can still serve it.
 *
 * @throws {NewerSchema} when the program cannot serve it
 * @throws {UnreleasedSchema} when the schema belongs to no release
 */
export async function currentVersion(db: Kysely<Schema>): Promise<number> {
  const tables = await db.introspection.getTables()
  if (!tables.some((table) => table.name === 'schema_migrations')) return 0
  await refuseUnreleased(db, tables)
  const row = await db
    .selectFrom('schema_migrations')
    .select((eb) => [
      eb.fn.max('version').as('version'),
      eb.fn.max('served_from').as('served_from'),
    ])
    .executeTakeFirst()
  const version = Number(row?.version ?? 0)
  const servedFrom = Number(row?.served_from ?? 0)
  if (servedFrom > SCHEMA_VERSION) {
    throw new NewerSchema(
      `The database has schema version ${version}, which programs for version ${servedFrom} and newer can serve; ` +
        `this one is for version ${SCHEMA_VERSION}. Start a newer release of Terse. Nothing was changed.`,
    )
  }
  return version
}

/** Thrown when the database was migrated by a release that this program is too old for. */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema'
}

/** Creates the table of applied migrations, unless it exists. */
export async function createMigrationTable(db: Kysely<Schema>): Promise<void> {
  await sql`create table if not exists schema_migrations (
    version bigint primary key,
    name text not null,
    applied_at bigint not null,
    served_from bigint not null
  )`.execute(db)
}
