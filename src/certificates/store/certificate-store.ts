import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import { statement } from '../../platform/database/statement.ts'
import type { SealedCertificate } from '../certificate.ts'
import type { CertificateStore } from '../certificate-store.ts'

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
