import { isDeepStrictEqual } from 'node:util'
import { USUAL_TOKEN_PARAMETER } from '@terse/contract/link-fields'
import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

/** How a workspace counts conversions, under the names of the API. */
export type ConversionSettings = {
  /** Whether destinations get a token where neither the link nor its domain says. */
  readonly track_conversions: boolean
  /** The parameter of destinations that has the token. */
  readonly parameter: string
  /** For how many days after its visit a token is accepted. */
  readonly window_days: number
}

/** Of a new workspace. */
const NEW_SETTINGS: ConversionSettings = Object.freeze({
  track_conversions: false,
  parameter: USUAL_TOKEN_PARAMETER,
  window_days: 30,
})

/** Whether a workspace has what a new one has. */
export function areConversionSettingsNew(settings: ConversionSettings): boolean {
  return isDeepStrictEqual(settings, NEW_SETTINGS)
}

export type ConversionSettingsStore = {
  find(workspaceId: string): Promise<ConversionSettings>
  set(workspaceId: string, settings: ConversionSettings): Promise<void>
}

export function conversionSettingsStore(db: Kysely<Schema>): ConversionSettingsStore {
  return {
    async find(workspaceId) {
      const row = await db
        .selectFrom('conversion_settings')
        .select(['track_conversions', 'parameter', 'window_days'])
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst()
      if (row === undefined) return NEW_SETTINGS
      return { ...row, track_conversions: row.track_conversions !== 0 }
    },
    async set(workspaceId, settings) {
      const values = { ...settings, track_conversions: Number(settings.track_conversions) }
      await db
        .insertInto('conversion_settings')
        .values({ workspace_id: workspaceId, ...values })
        .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(values))
        .execute()
    },
  }
}
