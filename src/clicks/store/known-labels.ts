import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { LockName } from '../../storage/store.ts'
import type { ClickBatch } from '../click-writer.ts'
import { dayOf } from '../tally/click-day.ts'
import { OTHER_VALUE } from '../tally/day-tally.ts'
import type { OwnerOf } from './batch-deltas.ts'

/** The labels of a workspace, besides the listed ones, that are counted by themselves. */
export const UNLISTED_LABELS_MAX = 1_000
/** An unlisted label without clicks for so long makes room for another one. */
const UNUSED_DAYS_MAX = 90

type Column = 'workspace_id' | 'label'

/** How an engine looks for thousands of values with one parameter, and writes. */
type LabelEngine = {
  /** Returns a condition that a column is among values. */
  readonly isAmong: (column: Column, values: readonly string[]) => Expression<SqlBool>
  /** Undefined where one transaction writes at a time. */
  readonly lockName: LockName | undefined
  readonly inTransaction: <T>(work: (tx: Kysely<Schema>) => Promise<T>) => Promise<T>
}

/** The clicks of a batch by workspace and label. */
type LabelledClicks = ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>

/**
 * Decides which labels are counted by themselves: those that the workspace lists, and the first `UNLISTED_LABELS_MAX`
 * others. What visitors send would otherwise fill tallies and raw clicks. All nodes decide by the same table, of which
 * each batch's new labels are committed before the batch, so that a batch that is retried is decided as before.
 */
export class KnownLabels {
  readonly #db: Kysely<Schema>
  readonly #engine: LabelEngine

  constructor(db: Kysely<Schema>, engine: LabelEngine) {
    this.#db = db
    this.#engine = engine
  }

  /** Sets the labels of a batch that are not counted by themselves to `OTHER_VALUE`. Costs nothing without labels. */
  async settle({ clicks, atMicros }: ClickBatch, ownerOf: OwnerOf): Promise<void> {
    // The number 0 is that of no label.
    if (clicks.labels.size === 1) return
    const labelled = byWorkspace(clicks, ownerOf)
    if (labelled.size === 0) return
    const today = dayOf(atMicros)
    const listed = await this.#listed([...labelled.keys()])
    const known = await this.#known(labelled)
    for (const [workspaceId, byLabel] of labelled) {
      const isListed = listed.get(workspaceId)
      const days = known.get(workspaceId)
      const unlisted = [...byLabel.keys()].filter((label) => isListed?.has(label) !== true)
      const isDue = unlisted.some((label) => (days?.get(label) ?? -1) < today)
      const counted = isDue ? await this.#admit(workspaceId, unlisted, today) : unlisted
      const others = new Set(unlisted).difference(new Set(counted))
      for (const label of others) {
        for (const index of byLabel.get(label) ?? []) clicks.setLabel(index, OTHER_VALUE)
      }
    }
  }

  async #listed(
    workspaceIds: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const rows = await this.#db
      .selectFrom('label_settings')
      .select(['workspace_id', 'labels'])
      .where(this.#engine.isAmong('workspace_id', workspaceIds))
      .execute()
    return new Map(rows.map((row) => [row.workspace_id, new Set(JSON.parse(row.labels))]))
  }

  /** Returns the days of the batch's labels by workspace. */
  async #known(
    labelled: LabelledClicks,
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
    const labels = new Set([...labelled.values()].flatMap((byLabel) => [...byLabel.keys()]))
    const rows = await this.#db
      .selectFrom('known_labels')
      .selectAll()
      .where(this.#engine.isAmong('workspace_id', [...labelled.keys()]))
      .where(this.#engine.isAmong('label', [...labels]))
      .execute()
    const known = new Map<string, Map<string, number>>()
    for (const { workspace_id, label, day } of rows) {
      known.getOrInsertComputed(workspace_id, () => new Map()).set(label, day)
    }
    return known
  }

  /** Notes the day for labels that are known, and adds others while there is room. Returns those that are known then. */
  #admit(
    workspaceId: string,
    labels: readonly string[],
    today: number,
  ): Promise<readonly string[]> {
    const { inTransaction, isAmong, lockName } = this.#engine
    return inTransaction(async (tx) => {
      // Before anything is read, so that other nodes' labels are counted and rows are locked in one order.
      if (lockName !== undefined) await tx.executeQuery(lockName(tx, `labels ${workspaceId}`))
      const known = await tx
        .updateTable('known_labels')
        .set(({ ref }) => ({
          day: sql<number>`case when day < ${today} then ${today} else ${ref('day')} end`,
        }))
        .where('workspace_id', '=', workspaceId)
        .where(isAmong('label', labels))
        .returning('label')
        .execute()
      const counted = new Set(known.map(({ label }) => label))
      const missing = labels.filter((label) => !counted.has(label))
      if (missing.length === 0) return [...counted]
      const room = await makeRoom(tx, { workspaceId, wanted: missing.length, today })
      const added = missing.slice(0, room)
      for (const label of added) {
        const row = { workspace_id: workspaceId, label, day: today }
        await tx.insertInto('known_labels').values(row).execute()
        counted.add(label)
      }
      return [...counted]
    })
  }
}

/** Forgets unused labels where the others leave too little room. Returns for how many there is room. */
async function makeRoom(
  tx: Kysely<Schema>,
  { workspaceId, wanted, today }: { workspaceId: string; wanted: number; today: number },
): Promise<number> {
  const count = async () => {
    const { known } = await tx
      .selectFrom('known_labels')
      .select(({ fn }) => fn.countAll<number>().as('known'))
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirstOrThrow()
    return Number(known)
  }
  const room = UNLISTED_LABELS_MAX - (await count())
  if (room >= wanted) return room
  const { numDeletedRows } = await tx
    .deleteFrom('known_labels')
    .where('workspace_id', '=', workspaceId)
    .where('day', '<', today - UNUSED_DAYS_MAX)
    .executeTakeFirst()
  return Math.max(0, room + Number(numDeletedRows))
}

function byWorkspace(clicks: ClickBatch['clicks'], ownerOf: OwnerOf): LabelledClicks {
  const labelled = new Map<string, Map<string, number[]>>()
  for (let index = 0; index < clicks.length; index += 1) {
    const number = clicks.labelOf(index)
    if (number === 0) continue
    const label = clicks.labels.textOf(number)
    const owner = ownerOf(clicks.link_seq[index] ?? 0)
    if (owner === undefined || label === OTHER_VALUE) continue
    const byLabel = labelled.getOrInsertComputed(owner.workspace_id, () => new Map())
    byLabel.getOrInsertComputed(label, () => []).push(index)
  }
  return labelled
}

/** Forgets the labels of a deleted workspace. */
export async function forgetLabels(db: Kysely<Schema>, workspaceId: string): Promise<void> {
  await db.deleteFrom('known_labels').where('workspace_id', '=', workspaceId).execute()
}
