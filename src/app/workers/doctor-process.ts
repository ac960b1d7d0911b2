import { constants, setPriority } from 'node:os'
import { systemClock } from '../../platform/time/clock.ts'
import { diagnoseInstance, type ExaminedInstance } from '../composition/doctor.ts'

/*
 * A process rather than the node itself: the checks read the database and the disk synchronously, which would
 * delay visits.
 */
setPriority(constants.priority.PRIORITY_LOW)
process.once('message', async (examined: ExaminedInstance) => {
  const findings = await diagnoseInstance(examined, systemClock(), { readsFiles: false })
  process.send?.(findings, undefined, undefined, () => process.exit())
})
