/**
 * A process that drains one journal, prints how many steps its statements took, and ends. With
 * `KILL_AT` it kills itself at that step, as a crash at the worst moment would.
 */
import path from 'node:path'
import { DrainProgress } from '../../src/clicks/ingest/drain-messages.ts'
import { Drainer } from '../../src/clicks/ingest/drainer.ts'
import { journalsRoot } from '../../src/clicks/journal/journal-folder.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { openWriterAt } from '../support/click-writers.ts'
import { failStatements } from '../support/statement-faults.ts'

const { DATA_DIR = '', DATABASE_URL, JOURNAL = '', KILL_AT } = process.env

const writer = await openWriterAt({ dataDir: DATA_DIR, databaseUrl: DATABASE_URL })
const { steps } = failStatements((step) => {
  if (step === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL')
  return false
})
const fail = (what: unknown) => {
  throw new Error(`the drainer reported ${what}`)
}
const drainer = new Drainer({
  keepMs: 0,
  writer,
  clock: systemClock(),
  journal: { id: JOURNAL, folder: path.join(journalsRoot(DATA_DIR), JOURNAL) },
  progress: new DrainProgress(),
  activeSegment: () => Number.POSITIVE_INFINITY,
  onError: fail,
  onDamage: fail,
})
await drainer.drain()
process.stdout.write(String(steps()))
await writer.close()
