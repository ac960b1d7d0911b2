import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { ColumnTypes, Migration } from '../../../storage/migration.ts'
import type { Schema } from '../../../storage/schema.ts'
import { kyselyOn } from '../../../storage/statement.ts'
import { COLUMN_TYPES as POSTGRES_TYPES } from '../postgres/column-types.ts'
import { COLUMN_TYPES as SQLITE_TYPES } from '../sqlite/column-types.ts'
import { MIGRATIONS } from './migrate.ts'

/**
 * The hash of what each released migration writes. A migration that fails here was edited: databases that
 * have run it would differ from new ones. Undo the edit and add a migration instead. A new migration adds
 * a line; no existing line changes.
 */
const RELEASED = [
  { name: 'foundation', SQLite: 'ab6d39b552991f62', PostgreSQL: '4c9e4bcd78bcf635' },
  { name: 'visitor-salts', SQLite: '934bd9acec706f96', PostgreSQL: '934bd9acec706f96' },
  { name: 'certificates', SQLite: '58b0df807781967d', PostgreSQL: 'b233b23799715362' },
  { name: 'acme', SQLite: '0d08157e27fa288a', PostgreSQL: '0d08157e27fa288a' },
  { name: 'nodes', SQLite: '138b3faf81ec5475', PostgreSQL: '138b3faf81ec5475' },
  { name: 'fair-leases', SQLite: 'd62d3d7d5f8030c0', PostgreSQL: 'd62d3d7d5f8030c0' },
  { name: 'file marks', SQLite: '8583ceaaa31d8a28', PostgreSQL: '6b3163574b1949de' },
  { name: 'quotas', SQLite: '4adc5857918580a5', PostgreSQL: '539db1f10b548176' },
  { name: 'raw-click-count', SQLite: '732a697c9c330c46', PostgreSQL: '7cbd133e414ceab4' },
  { name: 'events', SQLite: 'b53fd66817bad863', PostgreSQL: '7631681228dbe2df' },
  { name: 'people', SQLite: '201d2a8fba2899ed', PostgreSQL: 'eb8ae9caf590b4c7' },
  { name: 'event-subjects', SQLite: 'a00b211d2e93595e', PostgreSQL: 'a00b211d2e93595e' },
  { name: 'utm-templates', SQLite: '8c884a425d322b5c', PostgreSQL: '5bd906dd99d0e192' },
  { name: 'imports', SQLite: '8ca120927f61231b', PostgreSQL: 'b120543e355f84ff' },
  { name: 'click-spools', SQLite: '5b80b35053ac5d88', PostgreSQL: 'fbc3f3bc61595146' },
  { name: 'erasures', SQLite: '098688df055c5a0f', PostgreSQL: 'cd92ab5495f18838' },
  { name: 'import-attempts', SQLite: '3e72fb0ae911c632', PostgreSQL: '3e72fb0ae911c632' },
  { name: 'event-authors', SQLite: '4aa6a3dfff6d68f8', PostgreSQL: 'f2620bfb0b3f38a0' },
  { name: 'erasure-passes', SQLite: '2b487bf0f25cc1c8', PostgreSQL: '2b487bf0f25cc1c8' },
  { name: 'group-bindings', SQLite: '0ec44c86e82e7304', PostgreSQL: '0379143656db5578' },
  { name: 'untrusted-proxies', SQLite: '27f8254fb04c64fc', PostgreSQL: '27f8254fb04c64fc' },
  { name: 'grant-makers', SQLite: '94ec7aca25557d40', PostgreSQL: 'a142781e7a39add6' },
  { name: 'proved-addresses', SQLite: 'cdb6678e4c6d1504', PostgreSQL: 'cdb6678e4c6d1504' },
  { name: 'dry-run-clicks', SQLite: '2786d3b47a6af9ff', PostgreSQL: '43e12a141d44e4bc' },
  { name: 'external-ids', SQLite: '0949d981983ced41', PostgreSQL: '0949d981983ced41' },
  { name: 'domain-verdicts', SQLite: 'c4da6c123e520c1f', PostgreSQL: 'c4da6c123e520c1f' },
  { name: 'default-domains', SQLite: '3a0ea46b2b47ee2e', PostgreSQL: '9927c0c0c1ecc50e' },
  { name: 'workspace-titles', SQLite: '2bb85bef67eecd39', PostgreSQL: '2bb85bef67eecd39' },
  { name: 'link-rules', SQLite: 'fdddbd13d7231e28', PostgreSQL: 'fdddbd13d7231e28' },
  { name: 'click-rules', SQLite: '2b1615c7275a2ce0', PostgreSQL: 'fb5295e444701259' },
  { name: 'link-options', SQLite: '181e240c104cb654', PostgreSQL: '181e240c104cb654' },
  { name: 'archived-links', SQLite: '1faa068dcc40a555', PostgreSQL: '1faa068dcc40a555' },
  { name: 'rule-sets', SQLite: 'ac7357510e3cf84d', PostgreSQL: '27988eb15d4515de' },
  { name: 'link-paths', SQLite: '63f07d1256327f23', PostgreSQL: '63f07d1256327f23' },
  { name: 'click-limits', SQLite: '9bb02144d7de747d', PostgreSQL: '396197430ddf7474' },
  { name: 'labels', SQLite: 'fe943252aec7c877', PostgreSQL: 'ecd42deef8c7b8a9' },
  { name: 'link-examples', SQLite: '0cd00c6808c6722a', PostgreSQL: '0cd00c6808c6722a' },
  { name: 'domain-settings', SQLite: '523026d98441600e', PostgreSQL: '3304a85dcbddddb1' },
  { name: 'click-places', SQLite: '371436dc0779319e', PostgreSQL: '704e626959777224' },
  { name: 'link-previews', SQLite: '305ffcb32cd2de70', PostgreSQL: 'cbdb5448e9212442' },
  { name: 'conversions', SQLite: '6e5183a673033e82', PostgreSQL: '9572f74659fb414e' },
  { name: 'webhooks', SQLite: 'a94377b2152fd447', PostgreSQL: '6a9eeb223508a187' },
  { name: 'link-milestones', SQLite: '3b05d9ff78e994f6', PostgreSQL: '3b05d9ff78e994f6' },
  { name: 'conversion-scopes', SQLite: '6042472994324176', PostgreSQL: '6042472994324176' },
  { name: 'assistants', SQLite: '79ecb49c5fdb035a', PostgreSQL: 'e79deaf23d38497e' },
  { name: 'compat', SQLite: 'fdf8a9db955e9840', PostgreSQL: '56f1b836aa327d5b' },
  { name: 'managed-links', SQLite: '4eb6920f44b79d92', PostgreSQL: 'c3fd9c342d5cd94e' },
  { name: 'click-intents', SQLite: 'd26e472d00b97fdb', PostgreSQL: '271dec1ee4e53292' },
  { name: 'returned-clicks', SQLite: '5e36c6be5d3214a6', PostgreSQL: '49df52a041ba76f9' },
]

const DIALECTS = {
  SQLite: {
    types: SQLITE_TYPES,
    adapter: new SqliteAdapter(),
    compiler: new SqliteQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  },
  PostgreSQL: {
    types: POSTGRES_TYPES,
    adapter: new PostgresAdapter(),
    compiler: new PostgresQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  },
}

/** The hash of everything that a migration writes and declares on an engine. */
async function hashOf(
  { up, ...recorded }: Migration,
  engine: keyof typeof DIALECTS,
): Promise<string> {
  const { types, ...dialect } = DIALECTS[engine]
  const written: unknown[] = [recorded]
  const recorder = (file: string): Kysely<Schema> => {
    const connection: DatabaseConnection = {
      async executeQuery({ sql, parameters }: CompiledQuery) {
        written.push([file, sql.replaceAll(/\s+/g, ' '), parameters])
        return { rows: [] }
      },
      async *streamQuery() {},
    }
    return kyselyOn(connection, dialect)
  }
  const db = recorder('links')
  const clicks = engine === 'SQLite' ? recorder('clicks') : db
  await up(db, types satisfies ColumnTypes, clicks)
  return createHash('sha256').update(JSON.stringify(written)).digest('hex').slice(0, 16)
}

describe('released migrations', () => {
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    test(`write the same statements on ${engine} as when they were released`, async () => {
      const written = await Promise.all(
        MIGRATIONS.map(async (step) => ({ name: step.name, hash: await hashOf(step, engine) })),
      )
      const released = RELEASED.map((step) => ({ name: step.name, hash: step[engine] }))
      assert.deepEqual(written, released)
    })
  }
})
