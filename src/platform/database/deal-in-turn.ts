/** What was leased, and the workspaces that turned out to have nothing due. */
export type Dealt<Lease> = {
  readonly leases: readonly Lease[]
  readonly idle: readonly string[]
}

/**
 * Leases up to `limit` rows, one of each workspace in turn, until there are no more.
 *
 * @param options.shares how many rows each workspace may get, in the order of their turns
 * @param options.find a workspace's due rows in their order, at most `count`
 * @param options.take leases a row; undefined when another node was faster
 */
export async function dealInTurn<Row, Lease>(options: {
  readonly shares: ReadonlyMap<string, number>
  readonly limit: number
  readonly find: (workspaceId: string, count: number) => Promise<readonly Row[]>
  readonly take: (row: Row) => Promise<Lease | undefined>
}): Promise<Dealt<Lease>> {
  const { shares, limit } = options
  const queues: (readonly Row[])[] = []
  const idle: string[] = []
  for (const [workspaceId, share] of shares) {
    // Each queue gives one row in the first round, so further ones would not have their turn.
    if (queues.length >= limit) break
    const rows = await options.find(workspaceId, Math.min(share, limit))
    if (rows.length === 0) idle.push(workspaceId)
    else queues.push(rows)
  }
  const rounds = Math.max(0, ...queues.map((rows) => rows.length))
  const leases: Lease[] = []
  for (let round = 0; round < rounds; round += 1) {
    for (const rows of queues) {
      const row = rows[round]
      if (leases.length >= limit || row === undefined) continue
      const lease = await options.take(row)
      if (lease !== undefined) leases.push(lease)
    }
  }
  return { leases, idle }
}
