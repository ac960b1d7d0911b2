import { enforceQuotas, type QuotaBook, type QuotaStores } from '../identity/index.ts'
import type { Conversion, ConversionStore } from './store/conversion-store.ts'

type ImportedStores = QuotaStores & { readonly conversions: Pick<ConversionStore, 'insertNew'> }

/** What bounds a workspace. */
type Limits = Awaited<ReturnType<QuotaBook['limitsOf']>>

/** Takes conversions from another instance. */
export class ConversionImports {
  readonly #quotas: Pick<QuotaBook, 'limitsOf'>

  constructor({ quotas }: { readonly quotas: Pick<QuotaBook, 'limitsOf'> }) {
    this.#quotas = quotas
  }

  /** Returns what `add` needs to know; to be called before its transaction. */
  limitsOf(workspaceId: string): Promise<Limits> {
    return this.#quotas.limitsOf(workspaceId)
  }

  /**
   * Adds those whose ids the workspace does not have, and returns how many. No event is written: they were reported to
   * another instance.
   *
   * @throws {Failure} `validation_failed` where they would pass the quota
   */
  async add(
    stores: ImportedStores,
    limits: Limits,
    conversions: readonly Conversion[],
  ): Promise<number> {
    await enforceQuotas(stores, limits, { conversions: conversions.length })
    return stores.conversions.insertNew(conversions)
  }
}
