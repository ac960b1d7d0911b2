import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from './eventually.ts'

const START_DEADLINE_MS = 60_000

/**
 * Starts a program and waits until `isReady` does not throw for the output so far.
 *
 * @param folder its home
 * @param env beside what each program gets
 * @returns a function that ends it
 */
export async function startProgram(
  program: string,
  args: readonly string[],
  folder: string,
  isReady: (log: string) => Promise<void> | void,
  env: Readonly<Record<string, string>> = {},
): Promise<() => Promise<void>> {
  let log = ''
  const child = spawn(program, args, {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill()
    await exited
  }
  try {
    await eventually(async () => {
      assert.equal(child.exitCode, null)
      await isReady(log)
    }, START_DEADLINE_MS)
    return stop
  } catch (error) {
    await stop()
    throw new Error(`${program} did not start:\n${log}`, { cause: error })
  }
}
