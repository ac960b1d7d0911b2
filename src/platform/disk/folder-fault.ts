/** Why nothing can be written to a folder, or to the disk under it. */
export type FolderFault = 'full' | 'read_only' | 'missing' | 'failing' | 'replaced'

const FAULTS: ReadonlyMap<unknown, FolderFault> = new Map([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EROFS', 'read_only'],
  ['EACCES', 'read_only'],
  ['EPERM', 'read_only'],
  ['ENOENT', 'missing'],
  ['ENOTDIR', 'missing'],
  ['EIO', 'failing'],
  ['ESTALE', 'replaced'],
])

/** Maps a file system error to the fault of the folder; undefined for errors with other causes. */
export function folderFaultOf(error: unknown): FolderFault | undefined {
  return error instanceof Error && 'code' in error ? FAULTS.get(error.code) : undefined
}

/** Returns one or two sentences for operators, which name the folder. */
export function folderFaultText(fault: FolderFault, folder: string): string {
  if (fault === 'full') {
    return `The disk of the folder ${folder} is full. Nothing can be stored until there is room.`
  }
  if (fault === 'read_only') {
    return `The folder ${folder} is read-only. Nothing can be stored until the service may write to it.`
  }
  if (fault === 'missing')
    return `The folder ${folder} is missing. Nothing can be stored without it.`
  if (fault === 'replaced') {
    return `A file in the folder ${folder} was removed or replaced while the service had it open. Nothing can be stored until it is back, or the service was restarted.`
  }
  return `The disk of the folder ${folder} fails to read or write.`
}
