/** The host of the service itself: an active domain that all workspaces share. */
export type ServiceHost = ServiceName & { readonly keyspaceId: number }

/** The host name and ports of the service. */
export type ServiceName = {
  /** Lower-case, in A-label form, without port. */
  readonly host: string
  /** The ports on which this service can be reached. */
  readonly ports: ReadonlySet<number>
}
