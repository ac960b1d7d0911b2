/** There is no instance of the service in the database, and none was to be made. */
export class NoInstance extends Error {
  override readonly name = 'NoInstance'
}
