/** Where backups are stored: objects with names, such as the files of a folder. */
export type BackupTarget = {
  /** The target as the operator named it. */
  readonly label: string
  /** Returns all objects whose names begin with `prefix`. */
  list(prefix: string): Promise<readonly StoredObject[]>
  /** Returns undefined when there is no such object. */
  read(name: string): Promise<Buffer | undefined>
  /**
   * Stores an object under a name; replaces one that exists. Atomic: a process that is killed leaves the
   * whole object or none.
   */
  write(name: string, bytes: Uint8Array): Promise<void>
  remove(name: string): Promise<void>
  /** Ensures that what was written survives a power failure, and removes what a killed process left. */
  sync(): Promise<void>
  /** @throws {NoRoom} when the target's disk has no room for so many bytes */
  ensureRoom(bytes: number): Promise<void>
  /** Where working copies may lie; undefined when the target is not a folder of this machine. */
  readonly workFolder: string | undefined
}

export type StoredObject = { readonly name: string; readonly size: number }

/** Thrown when a disk has no room for a backup. Earlier backups are unchanged. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom'
  /** What could not be written, or the folder in which. */
  readonly place: string

  constructor(place: string) {
    super(
      `The disk of ${place} has no room for the backup. Make room, or keep fewer backups. Earlier backups are unchanged.`,
    )
    this.place = place
  }
}
