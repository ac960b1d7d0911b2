/** Thrown when a disk has no room for a backup. Earlier backups are unchanged. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom'

  constructor(folder: string) {
    super(
      `The disk of ${folder} has no room for the backup. Make room, or keep fewer backups. Earlier backups are unchanged.`,
    )
  }
}
