import { argon2id, type HashTask } from '../../platform/passwords/argon2id.ts'
import { giveWay, PRIORITY_LESS_BY } from '../../platform/work/give-way.ts'
import { serveTasks } from '../../platform/work/serve-tasks.ts'

// Where both want the same core, visitors go first.
giveWay(PRIORITY_LESS_BY.expensive)
serveTasks((task: HashTask): Uint8Array => argon2id(task))
