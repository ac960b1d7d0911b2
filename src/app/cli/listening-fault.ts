import { hasErrorCode } from '../../platform/process/has-error-code.ts'
import { userName } from '../../platform/process/user-name.ts'
import {
  type ListeningPlace,
  type ListeningUse,
  listeningPlaces,
} from '../config/listening-places.ts'
import type { Config } from '../config/read-config.ts'

const VARIABLES: Readonly<Record<ListeningUse, string>> = {
  plain: 'TERSE_PORT',
  https: 'TERSE_HTTPS_PORT',
  internal: 'TERSE_INTERNAL_LISTEN',
}

/** Explains why a port could not be opened, with what to do about it. Returns other errors unchanged. */
export function listeningFault(config: Config, error: unknown): unknown {
  const place = listeningPlaces(config).find(({ port }) => isAbout(error, port))
  const text = place && faultText(place, error)
  return text === undefined ? error : new Error(text, { cause: error })
}

function faultText({ use, host, port }: ListeningPlace, error: unknown): string | undefined {
  const variable = VARIABLES[use]
  if (hasErrorCode(error, 'EADDRINUSE')) {
    return `Port ${port} is in use by another program. Stop that one, or set ${variable} to a free port.`
  }
  if (hasErrorCode(error, 'EACCES')) {
    return (
      `The user ${userName()} may not open port ${port}. Set ${variable} to a port above 1023, or allow it: ` +
      '"sudo sysctl net.ipv4.ip_unprivileged_port_start=80", with systemd "AmbientCapabilities=CAP_NET_BIND_SERVICE".'
    )
  }
  if (hasErrorCode(error, 'EADDRNOTAVAIL')) {
    const at = use === 'internal' ? variable : 'TERSE_HOST'
    return `This machine does not have the address ${host}. Correct ${at}.`
  }
  return undefined
}

function isAbout(error: unknown, port: number): boolean {
  return error instanceof Error && 'port' in error && error.port === port
}
