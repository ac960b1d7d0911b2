import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { createFolder } from './engines.ts'

/** Mounts a small disk on a folder, which is created when missing. */
export function mountTmpfs(folder: string, options: string): void {
  mkdirSync(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' })
}

/**
 * Makes the system reject all further writes to it. No process may have a file there open for
 * writing.
 */
export function makeReadOnly(folder: string): void {
  execFileSync('mount', ['-o', 'remount,ro', folder], { stdio: 'ignore' })
}

export function unmount(folder: string): void {
  execFileSync('umount', [folder], { stdio: 'ignore' })
}

/** For a test's `skip`: false where this user may mount. */
export function skipWithoutMount(): string | false {
  const scratch = createFolder()
  const folder = path.join(scratch, 'disk')
  try {
    mountTmpfs(folder, 'size=4k')
    unmount(folder)
    return false
  } catch {
    return 'needs a small disk, which only root can mount'
  } finally {
    rmSync(scratch, { recursive: true })
  }
}
