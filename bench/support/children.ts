import type { ChildProcess } from 'node:child_process'

const children = new Set<ChildProcess>()

/** Ends a server with this process, in case an error prevents a normal stop. */
export function endWithThisProcess(child: ChildProcess): void {
  children.add(child)
  child.on('exit', () => children.delete(child))
}

process.on('exit', () => {
  // Not by SIGKILL, which would leave nginx's worker running.
  for (const child of children) child.kill('SIGTERM')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
