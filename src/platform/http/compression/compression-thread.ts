import { serveTasks } from '../../work/task-thread.ts'
import { type CompressionTask, compressBytes } from './compressor.ts'

// Copied, because a result may be a view of a larger buffer, all of which would be transferred.
serveTasks((task: CompressionTask) => new Uint8Array(compressBytes(task)))
