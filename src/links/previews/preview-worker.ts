import { lowerPriority, NICENESS_INCREMENTS, serveTasks } from '../../platform/work/task-thread.ts'
import { type PageTags, readPageTags } from './page-tags.ts'
import { encodePicture, type PictureResult } from './picture.ts'

export type PreviewTask =
  | { readonly kind: 'picture'; readonly bytes: Uint8Array }
  | ({ readonly kind: 'page' } & Parameters<typeof readPageTags>[0])
export type PreviewResult = PictureResult | PageTags

// Redirects run first when both need the same core.
lowerPriority(NICENESS_INCREMENTS.expensive)
serveTasks((task: PreviewTask) =>
  task.kind === 'picture' ? encodePicture(task.bytes) : readPageTags(task),
)
