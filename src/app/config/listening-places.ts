import type { Config } from './read-config.ts'

/** What a port serves: plain HTTP, HTTPS, or the internal requests of the operator's own programs. */
export type ListeningUse = 'plain' | 'https' | 'internal'

export type ListeningPlace = {
  readonly use: ListeningUse
  /** Undefined for every address of the machine. */
  readonly host: string | undefined
  readonly port: number
}

/** Returns where the service listens, always in the same order. */
export function listeningPlaces(
  config: Pick<Config, 'host' | 'port' | 'tls' | 'internalListen'>,
): readonly ListeningPlace[] {
  const { host, port, tls, internalListen } = config
  return [
    { use: 'plain', host, port },
    ...(tls === undefined ? [] : [{ use: 'https' as const, host, port: tls.port }]),
    ...(internalListen === undefined ? [] : [{ use: 'internal' as const, ...internalListen }]),
  ]
}
