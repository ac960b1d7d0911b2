import { argon2id } from '../../src/platform/passwords/argon2id.ts'
import { HASH_QUEUE, PasswordHasher } from '../../src/platform/passwords/password-hasher.ts'
import { FairQueue } from '../../src/platform/work/fair-queue.ts'

/** Hashes in the calling thread. */
export function directHasher(): PasswordHasher {
  return new PasswordHasher({
    queue: new FairQueue(HASH_QUEUE),
    compute: async (task) => argon2id(task),
  })
}
