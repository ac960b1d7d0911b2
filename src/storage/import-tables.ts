/** The tables of imports, as queries see them. Times are microseconds since the epoch. */
export type ImportTables = {
  imports: {
    id: string
    workspace_id: string
    /** The kind of its `SourceSettings`. */
    source: string
    /** `service`: any node that holds its file; `command`: only the command that started it. */
    runner: 'service' | 'command'
    status: 'waiting' | 'queued' | 'reading' | 'succeeded' | 'failed' | 'cancelled'
    /** 0 or 1. */
    is_dry_run: number
    /** `ImportOptions` as JSON. */
    options: string
    /** The rest of its `SourceSettings` with the secrets, sealed; null once it has ended. */
    sealed_settings: string | null
    /**
     * A hash of the command's source and options: the same command continues the same import. Null
     * once the command has shown how it ended.
     */
    fingerprint: string | null
    /** The name of the uploaded file, which is in the data folder of one node. */
    file_id: string | null
    file_bytes: number | null
    /** The names of a CSV file's columns, as a JSON array. */
    file_columns: string | null
    /**
     * The source's name, and which source of that name it is (the host of its API), once it was
     * opened.
     */
    origin: string | null
    links_expected: number | null
    /** The `resume` of the last record that was written. */
    resume: string | null
    /** Refs and places of rows after `resume` whose clicks are not spooled yet, as JSON; null for none. */
    ahead: string | null
    rows_done: number
    /** `ImportCounts` as JSON. */
    counts: string
    fault: string | null
    actor_kind: 'token' | 'person' | 'system'
    actor_id: string | null
    actor_name: string
    created_at: number
    started_at: number | null
    ended_at: number | null
    /** When a node should lease it; null when none should. */
    next_at: number | null
    /** Incremented by each lease, and when it is cancelled. */
    fence: number
    lease_until: number | null
    /** Leases in a row whose process neither ended the import nor was asked to stop. */
    attempts: number
    /** When it was last leased by a node. */
    leased_at: number | null
  }
  /** What became of each row of a source. Deleted with its import. */
  import_rows: {
    import_id: string
    /** In the order of the source, from 1. */
    number: number
    place: string
    /** Its domain and key at the source; only `/` and the key on the source's own domain. */
    old_link: string
    outcome: 'created' | 'updated' | 'renamed' | 'skipped' | 'refused'
    /** 0 or 1: it got a random password. */
    is_locked: number
    /** 0 or 1: it did not redirect at the source, and was imported as expired. */
    is_closed: number
    link_id: string | null
    link: string | null
    reason: string
    /** The row as it was read, where nothing else shows what it was. */
    source_row: string | null
    /** Dry runs only: the keyspace and key that it would take. */
    target: string | null
  }
  /**
   * Kept while a dry run runs: a row for each link that it would take, and for the link's total and
   * clicks in a batch. The sum of a link's rows is its opening balance.
   */
  dry_run_clicks: {
    import_id: string
    /** The `ref` of its `LinkRecord`. */
    ref: string
    /** Its total, or the negative number of its clicks. */
    clicks: number
  }
  /** From where a link came. Deleted with the link. */
  imported_links: {
    workspace_id: string
    link_seq: number
    import_id: string
    origin: string
    keyspace_id: number
    /** The `ref` of its `LinkRecord`. */
    ref: string
    /** What had no field, as JSON; null for nothing. */
    rest: string | null
  }
}

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
