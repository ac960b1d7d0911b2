import { argon2id, type HashTask } from '../../platform/passwords/argon2id.ts'
import { lowerPriority, NICENESS_INCREMENTS } from '../../platform/work/lower-priority.ts'
import { serveTasks } from '../../platform/work/serve-tasks.ts'

// Where both want the same core, visitors go first.
lowerPriority(NICENESS_INCREMENTS.expensive)
serveTasks((task: HashTask): Uint8Array => argon2id(task))
