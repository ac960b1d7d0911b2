import type { Actor, QuotaStores } from '../identity/index.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion, versionOf } from '../platform/version.ts'
import { type ChangeLog, labelChange } from '../storage/changes.ts'
import { changedFields, type EventWriter } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import { type LabelSettings, type LabelStore, NEW_LABELS } from './store/label-store.ts'

type LabelStores = QuotaStores & {
  readonly labels: LabelStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** Identifies a state of the settings, for `If-Match`. */
export function labelsVersion({ parameter, labels }: LabelSettings): string {
  return versionOf(parameter, ...labels)
}

/** The operations on a workspace's settings for labels of visits. */
export class Labels {
  readonly #store: Store<LabelStores>
  readonly #clock: Clock

  constructor({ store, clock }: { store: Store<LabelStores>; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  get({ workspaceId }: Actor): Promise<LabelSettings> {
    return this.#store.read.labels.find(workspaceId)
  }

  /**
   * Sets the labels of a workspace that has those of a new one. Returns what became of them: `kept` says that the
   * workspace has others, which stay.
   *
   * @param isPreview whether nothing is written
   */
  async adopt(
    actor: Actor,
    settings: LabelSettings,
    { isPreview }: { readonly isPreview: boolean },
  ): Promise<'adopted' | 'same' | 'kept'> {
    const before = await this.get(actor)
    const expected = [labelsVersion(before)]
    if (expected.includes(labelsVersion(settings))) return 'same'
    if (!areLabelsNew(before)) return 'kept'
    if (!isPreview) await this.update(actor, settings, expected)
    return 'adopted'
  }

  /**
   * Redirects follow as soon as their nodes have read the change.
   *
   * @param input.labels those that are left out stay
   * @throws {Failure} `precondition_failed`
   */
  update(
    actor: Actor,
    input: { readonly parameter: string | null; readonly labels?: readonly string[] | undefined },
    expected?: ExpectedVersions,
  ): Promise<LabelSettings> {
    const { workspaceId } = actor
    return this.#store.write(async (stores) => {
      await stores.quotas.lock(workspaceId)
      const before = await stores.labels.find(workspaceId)
      requireVersion(expected, labelsVersion(before))
      const labels = input.labels === undefined ? before.labels : [...new Set(input.labels)]
      const after = { parameter: input.parameter, labels }
      if (labelsVersion(after) === labelsVersion(before)) return before
      await stores.labels.set(workspaceId, after)
      const now = this.#clock.nowMicros()
      await stores.changes.append(labelChange(workspaceId), now)
      const fields = changedFields(shownOf(before), shownOf(after))
      const event = { type: 'workspace.updated', subjectId: workspaceId, ...fields } as const
      await stores.events.append(actor, event, now)
      return after
    })
  }
}

/** Whether labels are as in a new workspace. */
export function areLabelsNew(settings: LabelSettings): boolean {
  return labelsVersion(settings) === labelsVersion(NEW_LABELS)
}

/** As events show it. */
function shownOf({ parameter, labels }: LabelSettings) {
  return { label_parameter: parameter, labels }
}
