import type { QrRendering, QrTask } from '../../links/qr/qr-code.ts'
import { QR_QUEUE, QrPictures } from '../../links/qr/qr-pictures.ts'
import { TaskThread } from '../../platform/work/task-thread.ts'
import type { WorkQueues } from '../../platform/work/work-queues.ts'

export type OpenedQrPictures = { readonly pictures: QrPictures; close(): Promise<void> }

/** Renders QR pictures in a thread that starts with the first of them. */
export function openQrPictures(queues: WorkQueues): OpenedQrPictures {
  const thread = new TaskThread<QrTask, QrRendering>(new URL('./qr-worker.ts', import.meta.url))
  const pictures = new QrPictures({
    queue: queues.open(QR_QUEUE),
    render: (task) => thread.run(task),
  })
  return { pictures, close: () => thread.close() }
}
