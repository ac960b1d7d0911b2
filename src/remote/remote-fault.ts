/** A refusal of the API, or an answer that is none of it, as a sentence for people. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault'
  /** The HTTP status; undefined where there was no answer. */
  readonly status: number | undefined

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}
