import type { Actor, QuotaStores } from '../identity/index.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion, versionOf } from '../platform/version.ts'
import { type ChangeLog, labelChange } from '../storage/changes.ts'
import { changedFields, type EventWriter } from '../storage/event-log.ts'
import type { Store } from '../storage/store.ts'
import {
  areConversionSettingsNew,
  type ConversionSettings,
  type ConversionSettingsStore,
} from './store/conversion-settings-store.ts'

type SettingsStores = QuotaStores & {
  readonly conversionSettings: ConversionSettingsStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** Identifies a state of the settings, for `If-Match`. */
export function settingsVersion(settings: ConversionSettings): string {
  const { track_conversions, parameter, window_days } = settings
  return versionOf(Number(track_conversions), parameter, window_days)
}

type SettingsInput = {
  readonly [K in keyof ConversionSettings]?: ConversionSettings[K] | undefined
}

/** The operations on how a workspace counts conversions. */
export class ConversionSettingsService {
  readonly #store: Store<SettingsStores>
  readonly #clock: Clock

  constructor({ store, clock }: { store: Store<SettingsStores>; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  get({ workspaceId }: Actor): Promise<ConversionSettings> {
    return this.#store.read.conversionSettings.find(workspaceId)
  }

  /**
   * Takes over settings, if the workspace has those of a new one.
   *
   * @param isPreview whether nothing is written
   */
  async adopt(
    actor: Actor,
    settings: ConversionSettings,
    { isPreview }: { readonly isPreview: boolean },
  ): Promise<'adopted' | 'same' | 'kept'> {
    const before = await this.get(actor)
    const version = settingsVersion(before)
    if (version === settingsVersion(settings)) return 'same'
    if (!areConversionSettingsNew(before)) return 'kept'
    if (!isPreview) await this.update(actor, settings, [version])
    return 'adopted'
  }

  /**
   * Changes what is set; what is left out stays. Redirects follow as soon as their nodes have read the change.
   *
   * @throws {Failure} `precondition_failed`
   */
  update(
    actor: Actor,
    input: SettingsInput,
    expected?: ExpectedVersions,
  ): Promise<ConversionSettings> {
    const { workspaceId } = actor
    return this.#store.write(async (stores) => {
      await stores.quotas.lock(workspaceId)
      const before = await stores.conversionSettings.find(workspaceId)
      requireVersion(expected, settingsVersion(before))
      const after = {
        track_conversions: input.track_conversions ?? before.track_conversions,
        parameter: input.parameter ?? before.parameter,
        window_days: input.window_days ?? before.window_days,
      }
      if (settingsVersion(after) === settingsVersion(before)) return before
      await stores.conversionSettings.set(workspaceId, after)
      const now = this.#clock.nowMicros()
      await stores.changes.append(labelChange(workspaceId), now)
      const fields = changedFields(shownOf(before), shownOf(after))
      const event = { type: 'workspace.updated', subjectId: workspaceId, ...fields } as const
      await stores.events.append(actor, event, now)
      return after
    })
  }
}

/** As events show it. */
function shownOf({ track_conversions, parameter, window_days }: ConversionSettings) {
  return { track_conversions, token_parameter: parameter, conversion_window_days: window_days }
}
