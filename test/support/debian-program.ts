import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

const FOLDERS = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']

/**
 * The file of a program: the machine's own, or Debian's, installed where the tests run as root.
 * Undefined where there is none and none can be had.
 */
export function findOrInstall(program: string, debianPackage: string): string | undefined {
  return find(program) ?? install(program, debianPackage)
}

function find(program: string): string | undefined {
  return FOLDERS.map((folder) => path.join(folder, program)).find((file) => existsSync(file))
}

function install(program: string, debianPackage: string): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined
  const quiet = { stdio: 'ignore' } as const
  try {
    execFileSync('apt-get', ['update', '-qq'], quiet)
    const options = ['-y', '-qq', '--no-install-recommends']
    execFileSync('apt-get', ['install', ...options, debianPackage], quiet)
  } catch {
    return undefined
  }
  return find(program)
}
