import { serveTasks } from '../../work/serve-tasks.ts'
import { type CompressionTask, compressBytes } from './compress-bytes.ts'

// A copy of the bytes alone: a result may lie in a larger buffer, all of which would be sent.
serveTasks((task: CompressionTask) => new Uint8Array(compressBytes(task)))
