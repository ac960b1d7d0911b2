import type { Agent as HttpAgent } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import type { ImportSource } from '../import-source.ts'
import type { SourceSettings } from '../source-kinds.ts'

/** What a source may use besides its settings. */
export type SourceAccess = {
  /**
   * For `node:http` and `node:https`: every connection of an API source goes through one of these. For an import that
   * a tenant requested, they connect to public addresses only, to the very address that they checked.
   */
  readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent }
}

/**
 * Opens a source. Its module is loaded here, so that no process loads the code of sources that it does not read.
 *
 * @throws {ImportSourceFault} when it cannot be opened
 */
export async function openSource(
  settings: SourceSettings,
  access: SourceAccess,
): Promise<ImportSource> {
  switch (settings.kind) {
    case 'csv':
    case 'dub-csv':
      return (await import('./csv.ts')).openCsv(settings)
    case 'yourls-sql':
      return (await import('./yourls-sql.ts')).openYourlsSql(settings)
    case 'polr-sql':
      return (await import('./polr-sql.ts')).openPolrSql(settings)
    case 'terse':
      return (await import('./terse.ts')).openTerseExport(settings)
    case 'kutt-sqlite':
      return (await import('./kutt.ts')).openKuttSqlite(settings)
    case 'kutt-postgres':
      return (await import('./kutt-postgres.ts')).openKuttPostgres(settings)
    case 'kutt-sql':
      return (await import('./kutt.ts')).openKuttSql(settings)
    case 'sink':
      return (await import('./sink.ts')).openSink(settings)
    case 'chhoto':
      return (await import('./chhoto.ts')).openChhoto(settings)
    case 'bitly':
      return (await import('./api/bitly-source.ts')).openBitly(settings, access)
    case 'dub':
      return (await import('./api/dub-source.ts')).openDub(settings, access)
    case 'rebrandly':
      return (await import('./api/rebrandly-source.ts')).openRebrandly(settings, access)
    case 'shortio':
      return (await import('./api/shortio-source.ts')).openShortIo(settings, access)
    case 'kutt':
      return (await import('./api/kutt-source.ts')).openKutt(settings, access)
    case 'shlink':
      return (await import('./api/shlink-source.ts')).openShlink(settings, access)
    case 'yourls':
      return (await import('./api/yourls-source.ts')).openYourls(settings, access)
  }
}
