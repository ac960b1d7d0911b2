import type { PeopleServices } from '../../identity/commands/people.ts'
import { withInstance } from './with-instance.ts'

/** Opens the configured instance and its services for people for one command. */
export function withPeople<T>(work: (services: PeopleServices) => Promise<T>): Promise<T> {
  return withInstance(async (instance, { config }) => {
    const { openPeople } = await import('../instance/people.ts')
    return work({
      ...openPeople(instance),
      workspaces: instance.workspaces,
      baseUrl: config.baseUrl,
    })
  })
}
