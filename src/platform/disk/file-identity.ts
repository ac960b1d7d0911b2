import { fstatSync, statSync } from 'node:fs'

/**
 * Names the file at a path, or the one that a descriptor has open, independently of its path: by its device and inode.
 * While a file is open, no other one has its name. Undefined if nothing is at the path.
 */
export function fileIdentity(file: string | number): string | undefined {
  const options = { bigint: true } as const
  const found =
    typeof file === 'number'
      ? fstatSync(file, options)
      : statSync(file, { ...options, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
