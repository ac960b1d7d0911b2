import { execFileSync } from 'node:child_process'
import { findProgram, getProgram } from './programs.ts'

/** What a program of the C library needs, and a shell. Nothing in it knows Node.js. */
const PACKAGES = ['base-files', 'coreutils', 'dash', 'libc6', 'libstdc++6']
/** Documents and translations. */
const LEFT_OUT = '/usr/share/*'

/** Writes a root file system of Debian's packages, without any other program, into an archive. */
export function makeCleanSystem(archive: string): void {
  execFileSync(
    getProgram('mmdebstrap'),
    [
      '--variant=extract',
      `--include=${PACKAGES.join()}`,
      `--dpkgopt=path-exclude=${LEFT_OUT}`,
      'bookworm',
      archive,
    ],
    { stdio: 'pipe' },
  )
}

/** Returns why no such system can be made and entered here, or false. */
export function skipWithoutCleanSystem(): string | false {
  if (process.getuid?.() !== 0) return 'only root can make another root file system'
  return findProgram('mmdebstrap') === undefined && 'mmdebstrap is not installed'
}
