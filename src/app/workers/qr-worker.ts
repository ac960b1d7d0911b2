import { renderQrCode } from '../../links/qr/qr-code.ts'
import { lowerPriority, NICENESS_INCREMENTS } from '../../platform/work/lower-priority.ts'
import { serveTasks } from '../../platform/work/serve-tasks.ts'

// Where both want the same core, visitors go first.
lowerPriority(NICENESS_INCREMENTS.expensive)
serveTasks(renderQrCode)
