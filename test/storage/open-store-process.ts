/** A process that opens the store that its environment names, closes it, and ends. */

import { openStore } from '../../src/app/database/open-store.ts'
import { systemClock } from '../../src/platform/time/clock.ts'

const { TERSE_DATA_DIR = '', TERSE_DATABASE_URL } = process.env
const { store } = await openStore({
  dataDir: TERSE_DATA_DIR,
  databaseUrl: TERSE_DATABASE_URL,
  clock: systemClock(),
  onError: () => {},
})
await store.close()
