import { existsSync } from 'node:fs'
import path from 'node:path'
import { DrainProgress } from '../../clicks/ingest/drain-messages.ts'
import { Drainer } from '../../clicks/ingest/drainer.ts'
import {
  isJournalId,
  journalsRoot,
  listJournals,
  listSegments,
  lockJournal,
} from '../../clicks/journal/journal-folder.ts'
import { backlogBytes } from '../../clicks/journal/journal-reader.ts'
import { openClickWriter } from '../../clicks/store/open-click-writer.ts'
import type { ReplayedJournal } from '../../operations/commands/journal.ts'
import type { Instance } from '../composition/instance.ts'
import type { Config } from '../config/config.ts'

/**
 * Ingests the clicks in the journals of a lost node. The database records how far each journal has been
 * ingested, so each click counts once, even when this runs several times or in several processes at
 * once. Does not change the files.
 *
 * @param folder a data folder, its folder of journals, or one journal
 * @param options.includesUnknown whether to ingest journals that the database does not know: the clicks of
 *   another instance would count for links of this one
 * @throws when there is no journal
 */
export async function replayJournals(
  config: Config,
  instance: Instance,
  folder: string,
  options: { includesUnknown: boolean; onError: (error: unknown) => void },
): Promise<readonly ReplayedJournal[]> {
  const { databaseUrl, clicks, dataDir, rawClicksPerMinute: rawPerMinute } = config
  const known = new Set((await instance.nodes.list()).map(({ id }) => id))
  let withoutLink = 0
  const writer = await openClickWriter({
    databaseUrl,
    clicks,
    dataDir,
    rawPerMinute,
    retentionDays: config.clickRetentionDays,
    onRawRefused: () => {},
    onWithoutLink(clicks) {
      withoutLink += clicks
    },
    onError: options.onError,
  })
  const replayed: ReplayedJournal[] = []
  try {
    for (const { root, id } of findJournals(folder)) {
      const position = await writer.findPosition(id)
      const nothing = { id, clicks: 0, withoutLink: 0, damagedBytes: 0 }
      withoutLink = 0
      const isKnown = position !== undefined || known.has(id)
      if (
        !isKnown &&
        !options.includesUnknown &&
        backlogBytes(path.join(root, id), undefined) > 0
      ) {
        replayed.push({ ...nothing, state: 'unknown' })
        continue
      }
      const journal = lockJournal(root, id)
      if (journal === undefined) {
        replayed.push({ ...nothing, state: 'in use' })
        continue
      }
      const progress = new DrainProgress()
      // A copy may have been made while the last segment was being written. Its incomplete end is not
      // skipped, so that those clicks count when a complete copy is replayed.
      const last = listSegments(journal.folder).at(-1) ?? 0
      let damagedBytes = 0
      try {
        const drainer = new Drainer({
          writer,
          clock: instance.clock,
          journal,
          activeSegment: () => last,
          keepMs: Number.POSITIVE_INFINITY,
          progress,
          onError: options.onError,
          onDamage({ bytes }) {
            damagedBytes += bytes
          },
        })
        await drainer.drain()
        damagedBytes += backlogBytes(journal.folder, await writer.findPosition(id))
      } finally {
        journal.release()
      }
      await instance.nodes.leave(id)
      replayed.push({
        id,
        state: 'replayed',
        clicks: progress.get('clicks'),
        withoutLink,
        damagedBytes,
      })
    }
  } finally {
    await writer.close()
  }
  return replayed
}

function findJournals(folder: string): readonly { root: string; id: string }[] {
  const place = path.resolve(folder)
  const id = path.basename(place)
  if (isJournalId(id) && existsSync(place) && listSegments(place).length > 0) {
    return [{ root: path.dirname(place), id }]
  }
  for (const root of [journalsRoot(place), place]) {
    const ids = listJournals(root).filter(isJournalId)
    if (ids.length > 0) return ids.map((found) => ({ root, id: found }))
  }
  throw new Error(
    `There is no click journal in ${place}. Name the data folder of the lost node, or a journal in it.`,
  )
}
