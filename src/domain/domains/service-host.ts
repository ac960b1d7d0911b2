/** The host of the service itself: an active domain that all workspaces share. */
export type ServiceHost = {
  /** Lower-case, in A-label form, without port. */
  readonly host: string
  readonly keyspaceId: number
  /** The ports on which this service can be reached. */
  readonly ports: ReadonlySet<number>
}
