/**
 * A process that makes a backup or restores one, so that a test can kill it. `REQUEST` is what to do, as JSON.
 */
import { backUp, restoreInto } from '../support/backups.ts'

const request = JSON.parse(process.env.REQUEST ?? '{}')
if ('source' in request) await restoreInto(request)
else await backUp(request)
