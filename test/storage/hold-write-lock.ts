import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('./lock-holder.ts', import.meta.url))

/** Another process that holds an open write transaction on a SQLite file. */
export type LockHolder = {
  release(): void
  /** Ends it at once, as a crash would. */
  kill(): void
  ended: Promise<unknown>
}

export async function holdWriteLock(file: string): Promise<LockHolder> {
  const child = spawn(process.execPath, [PROGRAM, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('the holder of the lock ended'))),
  ])
  return {
    release: () => void child.stdin.write('go\n'),
    kill: () => void child.kill('SIGKILL'),
    ended,
  }
}
