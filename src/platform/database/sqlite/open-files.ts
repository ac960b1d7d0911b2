import path from 'node:path'
import { fileIdentity } from '../../disk/file-identity.ts'
import { folderFaultText } from '../../disk/folder-fault.ts'
import { Failure } from '../../failure.ts'

/** A file was removed or replaced while it was open: what is written to it is lost when it is closed. */
class ReplacedFile extends Error {
  override readonly name = 'ReplacedFile'
  /** As of a file handle on a network whose file is gone. */
  readonly code = 'ESTALE'

  constructor(file: string) {
    super(`${file} was removed or replaced while it was open`)
  }
}

/** Database files that this process has open, to find out whether they are still those at their paths. */
export class OpenFiles {
  readonly #identities = new Map<string, string>()
  #isVerified = false

  /** @param files those that are missing are ignored */
  constructor(files: readonly string[]) {
    for (const file of files) {
      const identity = fileIdentity(file)
      if (identity !== undefined) this.#identities.set(file, identity)
    }
  }

  /** Returns the first file that was removed or replaced; undefined while there is none. */
  findReplaced(): string | undefined {
    for (const [file, identity] of this.#identities) if (isOther(file, identity)) return file
    return undefined
  }

  /** As `verify`, once in an iteration of the event loop: writes of one iteration share a commit. */
  verifyCommit(): void {
    if (this.#isVerified) return
    this.verify()
    this.#isVerified = true
    setImmediate(() => {
      this.#isVerified = false
    })
  }

  /** @throws {Failure} `unavailable` if what is written would be in a file that is not at its path any more */
  verify(): void {
    const file = this.findReplaced()
    if (file !== undefined) {
      const message = folderFaultText('replaced', path.dirname(file))
      throw Failure.unavailable(new ReplacedFile(file), { kind: 'data_folder_replaced', message })
    }
  }
}

/** False for a file that cannot be looked at: that is another fault. */
function isOther(file: string, identity: string): boolean {
  try {
    return fileIdentity(file) !== identity
  } catch {
    return false
  }
}
