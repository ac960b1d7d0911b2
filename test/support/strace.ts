import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { createFolder } from './engines.ts'
import { getProgram } from './programs.ts'

/** A sync of a file to disk, with instants as in `Date.now()`. */
type FileSync = {
  readonly threadId: number
  readonly file: string
  readonly startedMs: number
  readonly endedMs: number
}

/** A running manipulation of a process's syncs. */
export type StracedSyncs = {
  /** Lets syncs be as they are again, and returns those that ended meanwhile. Has no effect the second time. */
  stop(): Promise<FileSync[]>
}

/** `123 1795553021.5 fdatasync(20</data/terse.db-wal>) = 0 (DELAYED)`, in one line or in two. */
const CALL = /^(\d+) +([\d.]+) f(?:data)?sync\(\d+<([^>]*)>/
const RESUMED = /^(\d+) +([\d.]+) <... f(?:data)?sync resumed>/
const DURATION = /<([\d.]+)>$/

/**
 * Delays the syncs of a running process and of its threads, or makes them fail. Other system calls are as
 * fast as before.
 *
 * @param injection as strace's `inject=` takes it, such as `fsync,fdatasync:delay_enter=3000000`
 * @throws when this user may not trace the process
 */
export async function manipulateSyncs(pid: number, injection: string): Promise<StracedSyncs> {
  const folder = createFolder()
  const file = path.join(folder, 'syncs')
  const child = spawn(
    getProgram('strace'),
    [
      ...['-f', '-y', '-ttt', '-T', '-e', 'trace=fsync,fdatasync', '-e', 'signal=none'],
      ...['-e', `inject=${injection}`, '-o', file, '-p', String(pid)],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const exited = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (text.includes('attached')) resolve()
    })
    child.on('exit', () => reject(new Error(text)))
  })
  async function stop(): Promise<FileSync[]> {
    child.kill('SIGINT')
    await exited
    const syncs = parse(readFileSync(file, 'utf8'))
    rmSync(folder, { recursive: true })
    return syncs
  }
  let stopped: Promise<FileSync[]> | undefined
  return {
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

function parse(text: string): FileSync[] {
  const syncs: FileSync[] = []
  const started = new Map<string, { file: string; startedMs: number }>()
  for (const line of text.split('\n')) {
    const [, threadId, seconds, file] = CALL.exec(line) ?? RESUMED.exec(line) ?? []
    if (threadId === undefined) continue
    if (file !== undefined) started.set(threadId, { file, startedMs: Number(seconds) * 1_000 })
    const call = started.get(threadId)
    const duration = DURATION.exec(line)?.[1]
    if (call === undefined || duration === undefined) continue
    const endedMs = call.startedMs + Number(duration) * 1_000
    syncs.push({ threadId: Number(threadId), ...call, endedMs })
  }
  return syncs
}
