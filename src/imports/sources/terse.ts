import type { ImportSource } from '../import-source.ts'
import type { FileSettings } from '../source-settings.ts'
import { checkSourceFile, isZip, readSourceFile } from './source-file.ts'
import { readNdjson } from './terse-ndjson.ts'

/**
 * Opens an export of Terse: NDJSON, or a zip. A position to resume from is an offset in bytes, or a row of a file in the
 * zip.
 */
export function openTerseExport({ file }: Pick<FileSettings, 'file'>): ImportSource {
  return {
    name: 'terse',
    countLinks: async () => undefined,
    async *read({ resume, signal }) {
      if (await isZip(file)) {
        const { readTerseZip } = await import('./terse-zip.ts')
        yield* readTerseZip(file, { resume, signal })
        return
      }
      await checkSourceFile(file)
      yield* readNdjson(readSourceFile(file, signal), resume)
    },
    close: async () => undefined,
  }
}
