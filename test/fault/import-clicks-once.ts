/**
 * A process that imports the clicks of a plan, prints how many steps its statements took, and ends. With
 * `KILL_AT` it kills itself at that step, as a crash at the worst moment would.
 */
import { readFileSync } from 'node:fs'
import { type ImportPlan, runImport } from '../clicks/click-import.ts'
import { failStatements } from '../support/statement-faults.ts'
import { openAt } from '../support/store.ts'

const { DATA_DIR = '', DATABASE_URL, PLAN = '', KILL_AT } = process.env

const place = { dataDir: DATA_DIR, databaseUrl: DATABASE_URL }
const plan: ImportPlan = JSON.parse(readFileSync(PLAN, 'utf8'))
const { store } = await openAt(place)
const { steps } = failStatements((step) => {
  if (step === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL')
  return false
})
await runImport(store, place, plan)
process.stdout.write(String(steps()))
await store.close()
