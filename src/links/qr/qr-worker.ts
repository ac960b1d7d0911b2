import { lowerPriority, NICENESS_INCREMENTS, serveTasks } from '../../platform/work/task-thread.ts'
import { renderQrCode } from './qr-code.ts'

// Redirects run first when both need the same core.
lowerPriority(NICENESS_INCREMENTS.expensive)
serveTasks(renderQrCode)
