import { renderQrCode } from '../domain/qr/qr-code.ts'
import type { QrTask } from '../domain/qr/qr-pictures.ts'
import { giveWay, PRIORITY_LESS_BY } from '../lib/give-way.ts'
import { serveTasks } from '../lib/serve-tasks.ts'

// Where both want the same core, visitors go first.
giveWay(PRIORITY_LESS_BY.expensive)
serveTasks(
  // A copy: the encoder's buffer is many times larger than the picture, and would be sent whole.
  ({ text, color }: QrTask): Uint8Array => new Uint8Array(renderQrCode(text, color)),
)
