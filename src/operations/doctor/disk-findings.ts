import { accessSync, constants, statfsSync } from 'node:fs'
import { DiskReserve } from '../../platform/disk/disk-reserve.ts'
import { fromStatFs } from '../../platform/disk/disk-space.ts'
import { folderFaultOf, folderFaultText } from '../../platform/disk/folder.ts'
import type { Finding } from './host-findings.ts'

const MIB = 1024 * 1024
const SUBJECT = 'disk'

/** Reports whether the data folder is writable and how much space is free. Writes nothing. */
export async function diskFindings({
  dataDir,
  diskLowRatio,
}: {
  readonly dataDir: string
  /** The free share of the disk below which to warn, 0 to 1. */
  readonly diskLowRatio: number
}): Promise<readonly Finding[]> {
  const access = accessFinding(dataDir)
  const room = await roomFinding(dataDir, diskLowRatio)
  return access === undefined ? [room] : [access, room]
}

function accessFinding(dataDir: string): Finding | undefined {
  try {
    accessSync(dataDir, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const fault = folderFaultOf(error) ?? 'failing'
    const advice = 'Make the file system writable, and give the folder to the user of the service.'
    return { subject: SUBJECT, state: 'problem', text: folderFaultText(fault, dataDir), advice }
  }
}

async function roomFinding(dataDir: string, lowRatio: number): Promise<Finding> {
  const { freeBytes, freeRatio, reserveNeedsBytes } = fromStatFs(statfsSync(dataDir))
  const percent = Math.floor(freeRatio * 1_000) / 10
  const text = `${Math.floor(freeBytes / MIB)} MiB free for ${dataDir} (${percent} %)`
  if (freeBytes < reserveNeedsBytes) {
    const needed = Math.ceil(reserveNeedsBytes / MIB)
    const consequence = `nothing is stored until ${needed} MiB are free, and clicks are eventually lost.`
    const isReleased = (await new DiskReserve(dataDir).bytes()) === 0
    return isReleased
      ? {
          subject: SUBJECT,
          state: 'problem',
          text: `${text}; the service treats the disk as full`,
          advice: `Free disk space: ${consequence}`,
        }
      : {
          subject: SUBJECT,
          state: 'problem',
          text,
          advice: `Free disk space: once the disk is full, ${consequence}`,
        }
  }
  if (freeRatio >= lowRatio) return { subject: SUBJECT, state: 'ok', text }
  const advice =
    'Free disk space before the disk is full. TERSE_DISK_LOW_PERCENT sets the threshold of this warning.'
  return { subject: SUBJECT, state: 'warning', text, advice }
}
