import { requestRaw } from './request.ts'

export type ExportFormat = 'ndjson' | 'csv-zip'

/** Everything of the workspace, as one file. */
export async function exportWorkspace(format: ExportFormat, clicks: boolean): Promise<Blob> {
  return (await requestRaw('/export', { query: { format, clicks } })).blob()
}
