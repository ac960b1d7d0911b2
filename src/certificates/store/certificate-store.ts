import type { Kysely, Selectable } from 'kysely'
import type { CertificateLife } from '../../domains/index.ts'
import type { Schema } from '../../storage/schema.ts'
import { statement } from '../../storage/statement.ts'
import type { RenewalWindow, SealedCertificate } from '../certificate.ts'

/** The certificates in use, at most one for each host. */
export type CertificateStore = {
  /** Called during TLS handshakes for hosts that are not cached, so it is one index lookup. */
  find(host: string): Promise<SealedCertificate | undefined>
  /** Reads only the validity period. */
  findLife(host: string): Promise<CertificateLife | undefined>
  /** The same for several hosts; those without a certificate are left out. */
  findLives(hosts: readonly string[]): Promise<ReadonlyMap<string, CertificateLife>>
  /** Up to `limit` certificates after `after`, ordered by the end of their validity. */
  list(
    limit: number,
    after?: Pick<SealedCertificate, 'host' | 'notAfter'>,
  ): Promise<readonly SealedCertificate[]>
  /** How many end before an instant, in microseconds since the epoch. */
  countEndingBefore(atMicros: number): Promise<number>
  /** Inserts a certificate, or replaces the host's previous one. */
  save(certificate: SealedCertificate, atMicros: number): Promise<void>
  /** Saves when to renew; does nothing when the host has another certificate by now. */
  setRenewalWindow(host: string, ariId: string, window: RenewalWindow): Promise<void>
  /** False when the host had none. */
  remove(host: string): Promise<boolean>
}

const findCertificate = statement((db, { host }: { host: string }) =>
  db.selectFrom('certificates').selectAll().where('host', '=', host),
)

const findLife = statement((db, { host }: { host: string }) =>
  db
    .selectFrom('certificates')
    .select(['not_before as notBefore', 'not_after as notAfter'])
    .where('host', '=', host),
)

export function certificateStore(db: Kysely<Schema>): CertificateStore {
  return {
    async find(host) {
      const [row] = (await findCertificate(db, { host })).rows
      return row && certificateOf(row)
    },

    findLife: async (host) => (await findLife(db, { host })).rows[0],

    async findLives(hosts) {
      const rows = await db
        .selectFrom('certificates')
        .select(['host', 'not_before as notBefore', 'not_after as notAfter'])
        .where('host', 'in', hosts)
        .execute()
      return new Map(rows.map(({ host, ...life }) => [host, life]))
    },

    async list(limit, after) {
      const rows = await db
        .selectFrom('certificates')
        .selectAll()
        .$if(after !== undefined, (query) =>
          query.where((eb) =>
            eb(
              eb.refTuple('not_after', 'host'),
              '>',
              eb.tuple(after?.notAfter ?? 0, after?.host ?? ''),
            ),
          ),
        )
        .orderBy('not_after')
        .orderBy('host')
        .limit(limit)
        .execute()
      return rows.map(certificateOf)
    },

    async countEndingBefore(atMicros) {
      const row = await db
        .selectFrom('certificates')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('not_after', '<', atMicros)
        .executeTakeFirstOrThrow()
      return row.count
    },

    async save(certificate, atMicros) {
      const { host, ...values } = valuesOf(certificate)
      const changed = { ...values, updated_at: atMicros }
      await db
        .insertInto('certificates')
        .values({ host, ...changed, created_at: atMicros })
        .onConflict((conflict) => conflict.column('host').doUpdateSet(changed))
        .execute()
    },

    async setRenewalWindow(host, ariId, window) {
      await db
        .updateTable('certificates')
        .set({ renewal_start: window.start, renewal_end: window.end })
        .where('host', '=', host)
        .where('ari_id', '=', ariId)
        .execute()
    },

    async remove(host) {
      const result = await db.deleteFrom('certificates').where('host', '=', host).executeTakeFirst()
      return result.numDeletedRows > 0n
    },
  }
}

function certificateOf(row: Selectable<Schema['certificates']>): SealedCertificate {
  const { renewal_start: start, renewal_end: end } = row
  return {
    host: row.host,
    chainPem: row.chain,
    sealedKey: row.private_key,
    notBefore: row.not_before,
    notAfter: row.not_after,
    directory: row.directory,
    ariId: row.ari_id,
    renewalWindow: start === null || end === null ? null : { start, end },
  }
}

function valuesOf(certificate: SealedCertificate) {
  return {
    host: certificate.host,
    chain: certificate.chainPem,
    private_key: certificate.sealedKey,
    not_before: certificate.notBefore,
    not_after: certificate.notAfter,
    directory: certificate.directory,
    ari_id: certificate.ariId,
    renewal_start: certificate.renewalWindow?.start ?? null,
    renewal_end: certificate.renewalWindow?.end ?? null,
  }
}
