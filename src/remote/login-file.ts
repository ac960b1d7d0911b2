import {
  chmodSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import { shellWord, terseCommand } from '../platform/process/terse-command.ts'

/** Where the commands of daily work go, and with which token. */
export type Login = { readonly url: string; readonly token: string }

/** Follows the XDG Base Directory Specification. */
export function loginFile(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CONFIG_HOME: given = '', HOME = homedir() } = env
  // A relative path is to be ignored.
  const folder = path.isAbsolute(given) ? given : path.join(HOME, '.config')
  return path.join(folder, 'terse', 'login.json')
}

/** A login of the environment, for pipelines: it takes precedence over the file. */
const URL_VARIABLE = 'TERSE_URL'
const TOKEN_VARIABLE = 'TERSE_TOKEN'
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/

/** @throws when there is no login, half of one, or the file is damaged or readable by others */
export function readLogin(env: NodeJS.ProcessEnv = process.env): Login {
  const { [URL_VARIABLE]: address = '', [TOKEN_VARIABLE]: secret = '' } = env
  if (address !== '' && secret !== '') {
    return { url: parseServiceUrl(address, false), token: secret }
  }
  if (address !== '' || secret !== '') {
    const missing = address === '' ? URL_VARIABLE : TOKEN_VARIABLE
    const text = `${missing} is missing: ${URL_VARIABLE} and ${TOKEN_VARIABLE} are set together, or neither is.`
    throw new RemoteFault(text, 'unauthorized')
  }
  return readSavedLogin()
}

function readSavedLogin(): Login {
  const file = loginFile()
  try {
    const { url, token } = JSON.parse(readOwn(file))
    if (typeof url === 'string' && typeof token === 'string') return { url, token }
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) {
      const text = `You are not logged in. Run: ${terseCommand('login URL')}`
      throw new RemoteFault(text, 'unauthorized')
    }
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new Error(`${file} is damaged. Run: ${terseCommand('login URL')}`)
}

/** @throws for a file that other users of the machine can read or write */
function readOwn(file: string): string {
  const fd = openSync(file, 'r')
  try {
    // Windows reports no modes.
    if (process.platform !== 'win32' && (fstatSync(fd).mode & 0o077) !== 0) {
      throw new Error(
        `Others can read the token in ${file}, or replace it. Run: chmod 600 ${shellWord(file)}\nIf others use this machine, make a new token, log in with it, and revoke this one.`,
      )
    }
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}

/**
 * Parses the address of a service.
 *
 * @throws {RemoteFault}
 */
export function parseServiceUrl(text: string, allowsPlainHttp: boolean): string {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') {
    const fault = `"${text}" is no address of a service, such as https://go.example.com.`
    throw new RemoteFault(fault, 'validation_failed')
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && !allowsPlainHttp) {
    const fault =
      'Over plain HTTP, others could read the token. Use https://, or "terse login --plain-http".'
    throw new RemoteFault(fault, 'validation_failed')
  }
  return url.origin
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

/** Why a command cannot do its work at the service, as a sentence for people. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault'
  /** Undefined where the API gave no reason: there was no answer, or it is none of the API. */
  readonly code: string | undefined

  constructor(message: string, code?: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
