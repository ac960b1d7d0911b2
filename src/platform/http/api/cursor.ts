import type { Random } from '../../crypto/random.ts'
import { sealing } from '../../crypto/sealing.ts'
import { Failure } from '../../failure.ts'

/** Where a page of a cursor walk begins. `M` marks a position in the list's order. */
export type WalkPosition<M> = {
  /** Undefined at an end of the list: its beginning or, for a reversed page, its last item. */
  readonly mark: M | undefined
  /** Whether the page ends at the mark, rather than beginning there. */
  readonly isReversed: boolean
  /** How many items of this walk lie before the mark. */
  readonly index: number
  /** How many items the list had when the walk began. */
  readonly total: number
}

/** Writes and reads cursors, which are opaque strings to clients. */
export type Cursors = {
  /** @param list names the list, its workspace and filters: a cursor is valid only for the same list */
  write<M>(position: WalkPosition<M>, list: string): string
  /** @throws {Failure} `validation_failed` when the cursor was not written for this list */
  read<M>(cursor: string, list: string): WalkPosition<M>
}

/**
 * Cursors are encrypted: a link's number would reveal how many links other workspaces create.
 *
 * @param key 32 bytes, used only for cursors
 */
export function cursors(key: Buffer, random: Random): Cursors {
  const box = sealing(key, random)
  return {
    write: (position, list) =>
      box.seal(Buffer.from(JSON.stringify(position)), list).toString('base64url'),
    read(cursor, list) {
      const plain = box.unseal(Buffer.from(cursor, 'base64url'), list)
      if (plain === undefined) {
        throw Failure.invalid({
          cursor: [{ code: 'wrong_cursor' }],
        })
      }
      return JSON.parse(plain.toString())
    },
  }
}
