import type { ImportRecord } from './import-record.ts'

/** Another service's data, as one stream of records in constant memory. */
export type ImportSource = {
  /** Such as `kutt-api`: stored with an import, and compared when it is resumed. */
  readonly name: string
  /** The number of links, where the source can say so without reading all; for progress only. */
  countLinks(signal: AbortSignal): Promise<number | undefined>
  /**
   * Reads all records, or those after the one whose `resume` is given.
   *
   * @throws {ImportSourceFault} when the source cannot be read, or gives what it cannot have meant
   */
  read(options: {
    readonly resume: string | undefined
    readonly signal: AbortSignal
  }): AsyncGenerator<ImportRecord, void, void>
  /** Releases files and connections. */
  close(): Promise<void>
}

/** Why a source cannot be read, as a sentence for the person who imports. Contains no secret. */
export class ImportSourceFault extends Error {
  override readonly name = 'ImportSourceFault'
  /** Whether the same request may succeed later, such as after a time-out. */
  readonly isTransient: boolean

  constructor(
    message: string,
    options: { readonly isTransient: boolean; readonly cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.isTransient = options.isTransient
  }
}
