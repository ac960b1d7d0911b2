import { renderQrCode } from '../domain/qr/qr-code.ts'
import type { QrTask } from '../domain/qr/qr-pictures.ts'
import { giveWay } from '../lib/give-way.ts'
import { serveTasks } from '../lib/serve-tasks.ts'

// Where both want the same core, visitors go first.
giveWay()
serveTasks(({ text, color }: QrTask): Uint8Array => renderQrCode(text, color))
