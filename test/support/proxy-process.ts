import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from './eventually.ts'

const START_DEADLINE_MS = 60_000

/** A proxy in front of Terse, configured as in the documentation's example. */
export type ProxyProcess = {
  readonly httpsPort: number
  /** The certificate of the authority that stands for a public one. */
  readonly authorityPem: string
  stop(): Promise<void>
}

/**
 * Starts a program and waits until `isReady` returns true for the output so far.
 *
 * @returns a function that ends it
 */
export async function startProxyProgram(
  program: string,
  args: readonly string[],
  folder: string,
  isReady: (log: string) => Promise<void> | void,
): Promise<() => Promise<void>> {
  let log = ''
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
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
