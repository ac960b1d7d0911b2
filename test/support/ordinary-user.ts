import { spawnSync } from 'node:child_process'

/** A user who owns nothing, on every Unix. */
const NOBODY = { uid: 65_534, gid: 65_534 }

export type OrdinaryUser = { readonly uid?: number; readonly gid?: number }

/**
 * Returns options for a child process that runs as an ordinary user, because root may do anything:
 * the user of the run itself, or another one. Returns a sentence when that user cannot run the
 * program.
 */
export function ordinaryUser(program: string): OrdinaryUser | string {
  if (process.getuid?.() !== 0) return {}
  const { status } = spawnSync(process.execPath, [program, '--version'], { ...NOBODY, env: {} })
  return status === 0 ? NOBODY : 'the tests run as root, and no other user can read the checkout'
}
