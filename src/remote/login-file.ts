import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import { terseCommand } from '../platform/process/terse-command.ts'

/** Where the commands of daily work go, and with which token. */
export type Login = { readonly url: string; readonly token: string }

/** Follows the XDG Base Directory Specification. */
export function loginFile(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CONFIG_HOME: given = '', HOME = homedir() } = env
  // A relative path is to be ignored.
  const folder = path.isAbsolute(given) ? given : path.join(HOME, '.config')
  return path.join(folder, 'terse', 'login.json')
}

/** @throws when there is no login, or the file is damaged or readable by others */
export function readLogin(): Login {
  const file = loginFile()
  try {
    const { url, token } = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof url === 'string' && typeof token === 'string') return { url, token }
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) {
      throw new Error(`You are not logged in. Run: ${terseCommand('login URL')}`)
    }
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new Error(`${file} is damaged. Run: ${terseCommand('login URL')}`)
}

/** Saves a login for its owner alone. */
export function saveLogin(login: Login): string {
  const file = loginFile()
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const partial = `${file}.${process.pid}`
  writeFileSync(partial, `${JSON.stringify(login)}\n`, { mode: 0o600, flush: true })
  // The mode above does not apply to a file that an earlier process left.
  chmodSync(partial, 0o600)
  renameSync(partial, file)
  return file
}

/** Returns false when there was no login. */
export function removeLogin(): boolean {
  try {
    rmSync(loginFile())
    return true
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return false
    throw error
  }
}
