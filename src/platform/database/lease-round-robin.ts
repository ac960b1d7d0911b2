/** The leased rows, and the workspaces that had nothing due. */
export type RoundRobinLeases<Lease> = {
  readonly leases: readonly Lease[]
  readonly idle: readonly string[]
}

/**
 * Leases up to `limit` rows round robin: one row of each workspace per round, until `limit` is
 * reached or no row is left.
 *
 * @param options.shares the maximum number of rows for each workspace, in round-robin order
 * @param options.find returns a workspace's due rows in order, at most `count`
 * @param options.take leases a row; returns undefined when another node leased it first
 */
export async function leaseRoundRobin<Row, Lease>(options: {
  readonly shares: ReadonlyMap<string, number>
  readonly limit: number
  readonly find: (workspaceId: string, count: number) => Promise<readonly Row[]>
  readonly take: (row: Row) => Promise<Lease | undefined>
}): Promise<RoundRobinLeases<Lease>> {
  const { shares, limit } = options
  const queues: (readonly Row[])[] = []
  const idle: string[] = []
  for (const [workspaceId, share] of shares) {
    // Each queue contributes a row in the first round, so further queues would contribute none.
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
