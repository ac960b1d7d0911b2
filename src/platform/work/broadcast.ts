/** Sends one request to every process of the service, the caller's own included. */
export type Broadcast = {
  /** Returns the responses of the processes that answered in time. */
  request(): Promise<readonly string[]>
  /** @param respond produces this process's response to each request */
  onRequest(respond: () => Promise<string>): void
}
