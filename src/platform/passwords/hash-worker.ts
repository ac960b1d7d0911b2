import { lowerPriority, NICENESS_INCREMENTS, serveTasks } from '../work/task-thread.ts'
import { argon2id, type HashTask } from './argon2id.ts'

// Redirects run first when both need the same core.
lowerPriority(NICENESS_INCREMENTS.expensive)
serveTasks((task: HashTask): Uint8Array => argon2id(task))
