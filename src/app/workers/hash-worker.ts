import { argon2id, type HashTask } from '../../platform/passwords/argon2id.ts'
import { lowerPriority, NICENESS_INCREMENTS } from '../../platform/work/lower-priority.ts'
import { serveTasks } from '../../platform/work/task-thread.ts'

// Redirects run first when both need the same core.
lowerPriority(NICENESS_INCREMENTS.expensive)
serveTasks((task: HashTask): Uint8Array => argon2id(task))
