/** Why a command cannot do its work at the service, as a sentence for people. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault'
  /** Undefined where the API gave no reason: there was no answer, or it is none of the API. */
  readonly code: string | undefined

  constructor(message: string, code?: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
