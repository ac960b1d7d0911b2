import { renderQrCode } from '../domain/qr/qr-code.ts'
import { giveWay, PRIORITY_LESS_BY } from '../lib/give-way.ts'
import { serveTasks } from '../lib/serve-tasks.ts'

// Where both want the same core, visitors go first.
giveWay(PRIORITY_LESS_BY.expensive)
serveTasks(renderQrCode)
