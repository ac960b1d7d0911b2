/**
 * Thrown when the database holds no instance of the service and the caller did not allow creating
 * one.
 */
export class NoInstance extends Error {
  override readonly name = 'NoInstance'
}
