import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FORM } from './long-form.ts'

type ProgramPackage = {
  readonly names: readonly string[]
  readonly package: string
  readonly isForLongForm?: boolean
}

/** Programs that the tests drive, with the Debian package that contains each; some only in their long form. */
const PROGRAMS = {
  caddy: { names: ['caddy'], package: 'caddy' },
  chromium: {
    names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    package: 'chromium',
  },
  /** Chromium without windows: a page costs half as much as in the whole program. */
  chromiumShell: { names: ['chromium-headless-shell'], package: 'chromium-headless-shell' },
  curl: { names: ['curl'], package: 'curl' },
  firefox: { names: ['firefox-esr', 'firefox'], package: 'firefox-esr', isForLongForm: true },
  ip: { names: ['ip'], package: 'iproute2' },
  knotd: { names: ['knotd'], package: 'knot' },
  mmdebstrap: { names: ['mmdebstrap'], package: 'mmdebstrap' },
  nginx: { names: ['nginx'], package: 'nginx' },
  oathtool: { names: ['oathtool'], package: 'oathtool' },
  pebble: { names: ['pebble'], package: 'pebble' },
  pgbouncer: { names: ['pgbouncer'], package: 'pgbouncer' },
  podman: { names: ['podman'], package: 'podman' },
  promtool: { names: ['promtool'], package: 'prometheus' },
  runc: { names: ['runc'], package: 'runc' },
  strace: { names: ['strace'], package: 'strace' },
  webkitDriver: {
    names: ['WebKitWebDriver'],
    package: 'webkit2gtk-driver',
    isForLongForm: true,
  },
  /** A display without a screen: WebKit has no mode without windows. */
  xvfb: { names: ['Xvfb'], package: 'xvfb', isForLongForm: true },
} as const satisfies Record<string, ProgramPackage>

export type Program = keyof typeof PROGRAMS

const FOLDERS = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']
const MAC_CHROME = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'
const APT = '/usr/bin/apt-get'
const APT_CACHE = '/usr/bin/apt-cache'
/** All packages of a Debian have names of more than 1 MiB, which is Node.js's default. */
const NAMES_BYTES_MAX = 64 * 1024 * 1024
/**
 * Another program that uses apt may hold its locks for minutes, as a machine's first update does.
 */
const LOCK_SECONDS = 300
const LOCK_RETRY_SECONDS = 5

/** Returns the path of a program, or undefined when it is not installed. */
export function findProgram(program: Program): string | undefined {
  const { names } = PROGRAMS[program]
  const files = names.flatMap((name) => FOLDERS.map((folder) => path.join(folder, name)))
  if (program === 'chromium') files.push(MAC_CHROME)
  return files.find((file) => existsSync(file))
}

/** @throws when the program is not installed */
export function getProgram(program: Program): string {
  const file = findProgram(program)
  if (file === undefined) throw new Error(reasonToSkip(program))
  return file
}

/**
 * Returns the reason to skip tests that need these programs, for the test runner, or false when all
 * are installed.
 *
 * @throws on a continuous integration machine, where no program may be missing
 */
export function skipWithout(...programs: readonly Program[]): string | false {
  const missing = programs.find((program) => findProgram(program) === undefined)
  if (missing === undefined) return false
  const reason = reasonToSkip(missing)
  if (process.env.CI) throw new Error(reason)
  return reason
}

function reasonToSkip(program: Program): string {
  return `${program} is not installed (Debian package: ${PROGRAMS[program].package})`
}

/**
 * Installs all programs that this form of the tests needs and the machine does not have in one call, as root on
 * Debian or a derivative. Elsewhere, and when it fails, the tests that need them are skipped.
 */
export async function installMissingPrograms(): Promise<void> {
  const isLongForm = process.env[FORM] === 'long'
  const names = Object.entries<ProgramPackage>(PROGRAMS)
    .filter(
      ([name, { isForLongForm }]) =>
        !findProgram(name as Program) && (isLongForm || !isForLongForm),
    )
    .map(([, program]) => program.package)
  if (names.length === 0 || process.getuid?.() !== 0 || !existsSync(APT)) return
  process.stderr.write(`Installing what the tests need: ${names.join(', ')}\n`)
  try {
    await updateLists()
    const known = new Set(
      execFileSync(APT_CACHE, ['pkgnames'], { maxBuffer: NAMES_BYTES_MAX }).toString().split('\n'),
    )
    const packages = names.filter((name) => known.has(name))
    apt('install', '-y', '-qq', '--no-install-recommends', ...packages)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(`They could not be installed: ${reason}\n`)
  }
}

/** apt waits for the lock of its packages, but not for that of its lists. */
async function updateLists(): Promise<void> {
  const giveUpAtMs = performance.now() + LOCK_SECONDS * 1_000
  for (;;) {
    try {
      apt('update', '-qq')
      return
    } catch (error) {
      const isLocked = String(error).includes('lock')
      if (!isLocked || performance.now() > giveUpAtMs) throw error
    }
    await sleep(LOCK_RETRY_SECONDS * 1_000)
  }
}

/** @throws with the standard error of apt */
function apt(...args: readonly string[]): void {
  execFileSync(APT, ['-o', `DPkg::Lock::Timeout=${LOCK_SECONDS}`, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
}
