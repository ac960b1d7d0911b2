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
