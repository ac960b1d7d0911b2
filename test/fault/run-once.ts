/**
 * A process that opens a data folder, ingests one click, and closes the folder again: a whole run.
 * It prints how many steps its statements took. With `KILL_AT` it kills itself at that step, as a
 * crash at the worst moment would.
 */
import { openWriterAt, takeClicks } from '../support/click-writers.ts'
import { someClick } from '../support/clicks.ts'
import { failStatements } from '../support/statement-faults.ts'
import { openAt } from '../support/store.ts'

const { DATA_DIR = '', LINK_SEQ, KILL_AT } = process.env
const place = { dataDir: DATA_DIR, databaseUrl: undefined }

const { steps } = failStatements((step) => {
  if (step === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL')
  return false
})
const { store } = await openAt(place, { onError: (error) => process.stderr.write(`${error}\n`) })
const writer = await openWriterAt(place)
if (LINK_SEQ !== undefined)
  await takeClicks(writer, [someClick({ at: 1_000, link_seq: Number(LINK_SEQ) })])
await writer.close()
await store.close()
process.stdout.write(String(steps()))
