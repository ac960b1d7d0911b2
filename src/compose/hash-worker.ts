import { argon2id, type HashTask } from '../domain/passwords/argon2id.ts'
import { giveWay, PRIORITY_LESS_BY } from '../lib/give-way.ts'
import { serveTasks } from '../lib/serve-tasks.ts'

// Where both want the same core, visitors go first.
giveWay(PRIORITY_LESS_BY.expensive)
serveTasks((task: HashTask): Uint8Array => argon2id(task))
