import type { SetupLinks } from '../../identity/sign-in/setup.ts'
import { withInstance } from './with-instance.ts'

/** Opens the configured instance for the set-up of its first person. */
export function withSetup<T>(
  work: (services: { setupLinks: SetupLinks; baseUrl: string }) => Promise<T>,
): Promise<T> {
  return withInstance(({ setupLinks }, { config }) => work({ setupLinks, baseUrl: config.baseUrl }))
}
