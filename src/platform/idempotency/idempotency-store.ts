/** A request that a client may send again without its being done again. */
export type IdempotentRequest = {
  /** The client's `Idempotency-Key`. */
  readonly key: string
  /** The same for the same request, different for a different one. */
  readonly fingerprint: string
}

type IdempotencyRecord = {
  readonly workspace_id: string
  readonly idempotency_key: string
  readonly fingerprint: string
  /** What the request made, as JSON. */
  readonly result: string
  /** Microseconds since the epoch. */
  readonly created_at: number
}

export type IdempotencyStore = {
  find(workspaceId: string, key: string): Promise<IdempotencyRecord | undefined>
  /** Has the unit run again when another request with this key was faster. */
  insert(record: IdempotencyRecord): Promise<void>
  /** Forgets the oldest of what is older, a bounded number; true when there may be more. */
  trim(beforeMicros: number): Promise<boolean>
}
