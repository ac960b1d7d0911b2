import type { Kysely } from 'kysely'
import { systemRandom } from '../crypto/random.ts'
import type { EventAuthor } from '../events/event-writer.ts'
import type { Schema } from './schema.ts'
import { workspaceNumber } from './workspace-number.ts'

/** The most workspaces in memory. An author of another one is looked up again. */
const WORKSPACES_MAX = 10_000
/** The most authors of one workspace in memory. */
const AUTHORS_MAX = 1_000

/** An author as the event log names it. */
export type NumberedAuthor = {
  readonly row: Schema['event_authors']
  /** The number of the author's workspace. */
  readonly workspace: number
  /** Whether a transaction that wrote the row is known to be committed. */
  isCommitted: boolean
}

/**
 * Numbers the authors of events, so that an event need not repeat who they are.
 *
 * A number is drawn at random, and a number without a row is never assigned to another author. So it stays right when
 * the transaction that wrote the row is rolled back, or lost in a failover.
 */
export class EventAuthors {
  readonly #known = new Map<string, Map<string, NumberedAuthor>>()

  /** Returns an author that `find` has returned before. */
  known({ workspaceId, kind, id, name }: EventAuthor): NumberedAuthor | undefined {
    const author = this.#known.get(workspaceId)?.get(id ?? name)
    return author?.row.kind === kind && author.row.name === name ? author : undefined
  }

  /** Looks an author up, or draws a number for it. Unless it is committed, its row must be written with the event. */
  async find(db: Kysely<Schema>, author: EventAuthor): Promise<NumberedAuthor> {
    const { workspaceId: workspace_id, kind, id: actor_id, name } = author
    const found = await db
      .selectFrom('event_authors')
      .select('number')
      .where((eb) => eb.and({ workspace_id, kind, name }))
      .where('actor_id', actor_id === null ? 'is' : '=', actor_id)
      .limit(1)
      .executeTakeFirst()
    const numbered = {
      row: { number: found?.number ?? (await freeNumber(db)), workspace_id, kind, actor_id, name },
      workspace: workspaceNumber(workspace_id),
      // The row that was found may be of this transaction.
      isCommitted: false,
    }
    this.#remember(numbered)
    return numbered
  }

  /** Forgets all authors: after an outage of the database their rows may be lost. */
  forget(): void {
    this.#known.clear()
  }

  #remember(author: NumberedAuthor): void {
    const { workspace_id, actor_id, name } = author.row
    let ofWorkspace = this.#known.get(workspace_id)
    if (ofWorkspace === undefined) {
      if (this.#known.size >= WORKSPACES_MAX) this.#known.clear()
      ofWorkspace = new Map()
      this.#known.set(workspace_id, ofWorkspace)
    }
    if (ofWorkspace.size >= AUTHORS_MAX) ofWorkspace.clear()
    ofWorkspace.set(actor_id ?? name, author)
  }
}

/**
 * Draws numbers of 31 bits until one is free. Another transaction could draw the same before this one commits, with a
 * probability of one in two thousand million.
 */
async function freeNumber(db: Kysely<Schema>): Promise<number> {
  for (;;) {
    const number = Buffer.from(systemRandom(4)).readUInt32BE() >>> 1
    const taken = await db
      .selectFrom('event_authors')
      .select('number')
      .where('number', '=', number)
      .executeTakeFirst()
    if (taken === undefined) return number
  }
}
