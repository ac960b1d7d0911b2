#!/usr/bin/env node
// Runs the program with the Node.js that npm installed, else with the one that runs this file.
// Older versions of Node.js must be able to parse this file, to report which version is required.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import module from 'node:module'
import { Socket } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import v8 from 'node:v8'
import { findBuiltProgram } from './built-program.js'

/** With this code the dynamic linker ends a program; Terse itself never does. */
const LIBRARY_MISSING = 127
/** Names the descriptor of the pipe to a launcher that waits for this process. */
const LAUNCHER = '_TERSE_LAUNCHER'
const LAUNCHER_PIPE = 3
const PARENT_CHECK_MS = 500
/** The package of Debian with each library that Node.js needs beside the C library. */
const LIBRARY_PACKAGES = {
  'libatomic.so.1': 'libatomic1',
  'libgcc_s.so.1': 'libgcc-s1',
  'libstdc++.so.6': 'libstdc++6',
}
/**
 * glibc gives each thread a part of memory of its own, and keeps in it what the thread has freed. With two for all
 * threads a service takes 6 MiB less when it starts. It reads this only when a program begins.
 */
const ARENAS = { MALLOC_ARENA_MAX: '2' }
const platform = `${process.platform}-${process.arch}`
const { optionalDependencies, nodeHashes = {} } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)
const packages = Object.entries(optionalDependencies).filter(([name]) => /^node-/.test(name))
const [[, requiredVersion]] = packages
const [packageName] = packages.find(([name]) => name.endsWith(`-${platform}`)) ?? []
const root = fileURLToPath(new URL('..', import.meta.url))
const installed = findInstalled()
// Beside the program: a user who can change these files could change the program itself.
const compiled = fileURLToPath(new URL('../node_modules/.cache/terse', import.meta.url))

if (installed === undefined) {
  await runHere(
    packageName === undefined
      ? `There is no package of it for ${platform}.`
      : `npm has not installed ${packageName}; with --loglevel=verbose it shows why.`,
  )
} else if (realpathSync(process.execPath) === realpathSync(installed)) await run()
else runWith(installed)

/**
 * Returns the Node.js that npm installed, or undefined. npm creates its link last: a package that failed its
 * check may leave files behind, but no link. Versions before 11.19 remove the link again, with the packages for
 * other platforms, so a binary without a link is compared with its known hash.
 */
function findInstalled() {
  const own = path.join(root, 'node_modules')
  if (existsSync(linkIn(own))) return linkIn(own)
  if (packageName === undefined) return undefined
  // In another package's node_modules, npm puts this program and what it needs side by side.
  const [around] = /^.*[\\/]node_modules(?=[\\/])/.exec(root) ?? []
  if (around !== undefined && isLinkToPackage(around)) return linkIn(around)
  const folder = [own, around].find((one) => one !== undefined && isKnownBinary(one))
  return folder === undefined ? undefined : link(folder)
}

function linkIn(folder) {
  return path.join(folder, '.bin/node')
}

/** The link may be that of another package, and the package another version. */
function isLinkToPackage(folder) {
  const installedIn = path.join(folder, packageName)
  if (!existsSync(linkIn(folder))) return false
  if (!realpathSync(linkIn(folder)).startsWith(installedIn + path.sep)) return false
  const { version } = JSON.parse(readFileSync(path.join(installedIn, 'package.json'), 'utf8'))
  return version === requiredVersion
}

function isKnownBinary(folder) {
  const file = path.join(folder, packageName, 'bin/node')
  if (!existsSync(file)) return false
  const known = nodeHashes[`${packageName}@${requiredVersion}`]
  return createHash('sha256').update(readFileSync(file)).digest('hex') === known
}

/** Creates the link again, so that the next start need not read the binary; returns what can be run. */
function link(folder) {
  const target = path.join('..', packageName, 'bin/node')
  const file = linkIn(folder)
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    symlinkSync(target, file)
    return file
  } catch {
    // Another user's folder, another package's link, or another process was faster.
    return path.join(path.dirname(file), target)
  }
}

async function run() {
  endWithLauncher()
  endWithNpx()
  // V8 doubles the space of new objects as they are made, to 32 MiB in a start alone, and does not give it back.
  // A small one fits the processor's cache, so a redirect costs less; a service lets it grow a little later on.
  v8.setFlagsFromString('--semi-space-growth-factor=1')
  // Types are stripped and modules compiled once, not in every process: half of the time of a command.
  // Where the folder cannot be written, each process does it again.
  const { directory } = module.enableCompileCache({ directory: compiled })
  // Threads and child processes read the folder from the environment.
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory
  // A static import would be compiled before the lines above.
  const built = findBuiltProgram(root, sayBuildFault)
  if (built === undefined) await import('../src/main.ts')
  else await import(built)
}

/** Said once, not by the processes that a service starts. */
function sayBuildFault(fault) {
  if (process.send !== undefined) return
  process.stderr.write(
    `terse: The built program in build/ cannot be used: ${fault}. The sources run instead, and start more slowly. ` +
      'Build it again ("npm run build" in the repository), or install this package again.\n',
  )
}

/** @param reason why there is no other Node.js */
async function runHere(reason) {
  if (isNewEnough(process.versions.node)) await run()
  else {
    process.stderr.write(
      `terse: Node.js ${requiredVersion} or newer is required, and this is ${process.versions.node}. ` +
        `${reason} Install Node.js from https://nodejs.org, and try again.\n`,
    )
    process.exitCode = 1
  }
}

function isNewEnough(version) {
  const numbers = (text) => text.split('.').map(Number)
  const required = numbers(requiredVersion)
  const difference = numbers(version).map((number, nth) => number - required[nth])
  return (difference.find((one) => one !== 0) ?? 0) >= 0
}

function runWith(node) {
  // A process cannot be replaced by one that does not start. For example where the C library is musl: the packages
  // are for glibc.
  const { error, status, stderr } = spawnSync(node, ['--version'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  if (error !== undefined) {
    runHere(`The one that npm installed cannot run: ${error.code}.`)
  } else if (status === LIBRARY_MISSING) {
    const [library = 'a library'] = /\blib[\w+]+\.so\.\d+/.exec(stderr) ?? []
    const advice = LIBRARY_PACKAGES[library]
    runHere(
      `The one that npm installed lacks ${library}` +
        (advice === undefined ? '.' : `: on Debian, apt-get install ${advice}.`),
    )
  } else {
    const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)]
    const env = { ...ARENAS, ...process.env }
    if (typeof process.execve === 'function') process.execve(node, [node, ...args], env)
    else runAsChild(node, args, env)
  }
}

/** For versions of Node.js before 22.15, which cannot replace their process. */
function runAsChild(node, args, env) {
  endWithNpx()
  const stdio = ['inherit', 'inherit', 'inherit', 'pipe']
  // The child ends when its pipe to this process does.
  const child = spawn(node, args, { env: { ...env, [LAUNCHER]: String(LAUNCHER_PIPE) }, stdio })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/** Ends this process as a signal would when the launcher is gone, even if that was killed. */
function endWithLauncher() {
  if (process.env[LAUNCHER] === undefined) return
  delete process.env[LAUNCHER]
  const pipe = new Socket({ fd: LAUNCHER_PIPE })
  pipe.on('error', () => {})
  pipe.on('close', () => process.kill(process.pid, 'SIGTERM'))
  pipe.resume().unref()
}

/** `npx` gives SIGTERM to a shell that does not pass it on: the shell ends, and this process would stay behind. */
function endWithNpx() {
  if (process.env.npm_command !== 'exec') return
  const parent = process.ppid
  const check = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(check)
    process.kill(process.pid, 'SIGTERM')
  }, PARENT_CHECK_MS)
  check.unref()
}
