import type { Config } from './read-config.ts'

/** What comes in at a port: HTTP as it is, HTTPS, or what only the operator's own programs may ask. */
export type ListeningUse = 'plain' | 'https' | 'internal'

export type ListeningPlace = {
  readonly use: ListeningUse
  /** Every address of the machine where none is named. */
  readonly host: string | undefined
  readonly port: number
}

/** Where the service listens, always in the same order. */
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
