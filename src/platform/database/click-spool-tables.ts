/** The tables of imported clicks that are not counted yet, as queries see them. */
export type ClickSpoolTables = {
  /** The clicks of one import, by its id. */
  click_spools: {
    id: string
    workspace_id: string
    state: 'reading' | 'sealed' | 'counted'
    visitor_key: string | null
    /** How many parts it was given. */
    parts: number
    journal_id: string | null
    opening: number
    opening_links: number
    created_at: number
  }
  /** Records of clicks (spool-codec.ts), in the order in which they are counted. */
  click_spool_parts: {
    spool_id: string
    bucket: number
    part: number
    /** The number of records. */
    clicks: number
    data: Uint8Array
  }
}
