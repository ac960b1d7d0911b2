import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

type Service = {
  readonly image: string
  readonly read_only: boolean
  readonly tmpfs: readonly string[]
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly mem_limit: string
  readonly environment: Readonly<Record<string, string | null>>
  readonly volumes: readonly string[]
}

const VARIABLE = /\$\{(\w+)(?::([-?])([^}]*))?\}/g

/**
 * Returns the options of `podman run` that start the service `terse` of a Compose file, but for its ports: the
 * tests use the network of the machine, where nothing must be set up.
 *
 * @throws as Compose does, where a variable that the file requires is not set
 */
export function composeOptions(
  file: string,
  variables: Readonly<Record<string, string>>,
): readonly string[] {
  const text = readFileSync(file, 'utf8').replace(VARIABLE, (_all, name, kind, rest) => {
    const value = variables[name]
    if (value) return value
    if (kind === '?') throw new Error(rest)
    return rest ?? ''
  })
  const service: Service = parse(text).services.terse
  const environment = Object.entries(service.environment)
    .map(([name, value]) => [name, value ?? variables[name]])
    .filter(([, value]) => value !== undefined)
  return [
    ...(service.read_only ? ['--read-only'] : []),
    ...service.tmpfs.flatMap((folder) => ['--tmpfs', folder]),
    ...service.cap_drop.flatMap((name) => ['--cap-drop', name]),
    ...service.security_opt.flatMap((option) => ['--security-opt', option]),
    ...service.volumes.flatMap((volume) => ['--volume', volume]),
    ...environment.flatMap((one) => ['--env', one.join('=')]),
    ...['--memory', service.mem_limit],
  ]
}
