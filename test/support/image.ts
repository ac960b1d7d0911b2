import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findProgram } from './programs.ts'

const IMAGE = 'localhost/terse'
const BASE = 'localhost/terse-base'
const FINAL_STAGE = /^FROM \$\{BASE\}$/m
/** Control groups of version 1 and of version 2. */
const CGROUPS = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup/cgroup.controllers']
const NEEDED = ['podman', 'runc'] as const

/** Returns why images cannot be tried here, or false. */
export function skipWithoutImages(): string | false {
  const missing = NEEDED.find((name) => findProgram(name) === undefined)
  if (missing !== undefined) return `${missing} is not installed, which images are tried with`
  const namespaces = spawnSync('unshare', ['--mount', '--pid', '--uts', '--ipc', '--fork', 'true'])
  if (namespaces.status !== 0) return 'containers cannot run here: no new namespaces'
  return (
    !CGROUPS.some((file) => existsSync(file)) && 'containers cannot run here: no control groups'
  )
}

/** Whether podman can work so: overlays save copies of whole systems, but not every file system can have one. */
function isUsable(options: readonly string[]): boolean {
  return spawnSync('podman', [...options, 'info'], { stdio: 'ignore' }).status === 0
}

/** The end of a container whose test was killed. */
const CONTAINER_SECONDS_MAX = 900

/** Images and containers in a folder of their own. */
export class Images {
  readonly #folder: string
  readonly #options: readonly string[]

  constructor(folder: string) {
    this.#folder = folder
    const options = ['overlay', 'vfs']
      .map((driver) => [
        ...['--root', path.join(folder, driver), '--runroot', path.join(folder, `run-${driver}`)],
        ...['--storage-driver', driver, '--cgroup-manager', 'cgroupfs', '--runtime', 'runc'],
      ])
      .find(isUsable)
    if (options === undefined) throw new Error('podman can keep no images here')
    this.#options = options
  }

  /** @throws with the standard error of podman */
  podman(...args: readonly string[]): string {
    const all = [...this.#options, ...args]
    return execFileSync('podman', all, { encoding: 'utf8', stdio: 'pipe' }).trim()
  }

  try(...args: readonly string[]): SpawnSyncReturns<string> {
    return spawnSync('podman', [...this.#options, ...args], { encoding: 'utf8' })
  }

  /**
   * Builds the image as the last stage of a Dockerfile does, on a base of Debian's packages, from what the first
   * stage would have made: that stage takes minutes and the registry.
   *
   * @param base the archive of a root file system
   * @param made the folder that the first stage leaves, from the root
   */
  build(dockerfile: string, base: string, made: string): void {
    this.podman('import', base, BASE)
    const context = path.join(this.#folder, 'empty')
    mkdirSync(context, { recursive: true })
    const text = readFileSync(dockerfile, 'utf8')
    const final = path.join(this.#folder, 'Dockerfile')
    writeFileSync(final, `ARG BASE\n${text.slice(text.search(FINAL_STAGE))}`)
    this.podman(
      ...['build', '--isolation', 'chroot', '--format', 'docker', '--file', final],
      ...[
        '--build-arg',
        `BASE=${BASE}`,
        '--build-context',
        `build=${made}`,
        '--tag',
        IMAGE,
        context,
      ],
    )
  }

  bytes(): number {
    return Number(this.podman('image', 'inspect', '--format', '{{.Size}}', IMAGE))
  }

  /**
   * Starts a container in the network of this machine.
   *
   * @param options those of a Compose file
   */
  run(name: string, port: number, options: readonly string[]): void {
    this.podman(
      ...['run', '--detach', '--name', name, '--network', 'host', ...options],
      ...['--env', `TERSE_PORT=${port}`, '--env', 'TERSE_HOST=127.0.0.1'],
      ...['--timeout', String(CONTAINER_SECONDS_MAX)],
      // Without systemd, podman can neither raise limits nor time health checks.
      ...['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096', '--no-healthcheck', IMAGE],
    )
  }

  remove(): void {
    this.try('rm', '--all', '--force', '--volumes')
    // With overlays podman mounts this folder on itself, and at times processes of it leave mounts behind.
    const unmount = () =>
      spawnSync('umount', ['--lazy', path.join(this.#folder, 'overlay/overlay')])
    for (let mounts = 0; mounts < 10 && unmount().status === 0; mounts += 1);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 })
  }
}
