import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isEdited, type Managed, release } from '../api/managed.ts'
import { Icon } from '../icons/Icon.tsx'
import { SetIcon } from '../icons/index.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { Button } from '../widgets/Button.tsx'
import { showMessage } from '../widgets/Toasts.tsx'
import { ConfirmDialog } from './ConfirmDialog.tsx'

type ManagedNoteProps = {
  readonly of: Managed
  readonly kind: keyof Catalogue['managed']['notes']
  /** Where the mark is changed, in the API. */
  readonly path: string
  /** That of what is edited: a save after the release must not undo what another person has changed meanwhile. */
  readonly version?: string | undefined
  readonly mayRelease: boolean
  /** Queries that have the mark. */
  readonly keys: readonly QueryKey[]
  /** Gets the version that the release has led to, for what is saved next. */
  readonly onReleased?: (version: string | undefined) => unknown
}

/** Warns before the fields of what a set of links as code manages that edits do not last. Shows nothing without a set. */
export function ManagedNote(props: ManagedNoteProps) {
  const { of: thing, kind, path, version, mayRelease, keys, onReleased } = props
  const t = useText()
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const [isReleased, setReleased] = useState(false)
  const { managed_by: set } = thing
  if (set === null || isReleased) return null
  return (
    <div className="note warn" role="note">
      <Icon of={SetIcon} />
      <div className="grow flex flex-wrap items-center gap-x-3">
        <span className="grow basis-56">
          {t.managed.notes[kind](set)} {isEdited(thing) && t.managed.edited}
        </span>
        {mayRelease && (
          <Button size="small" look="bare" className="-ml-2.5" onClick={() => setAsking(true)}>
            {t.managed.release}
          </Button>
        )}
      </div>
      {isAsking && (
        <ConfirmDialog
          title={t.managed.releaseTitle(set)}
          text={t.managed.releaseText}
          verb={t.managed.release}
          look="ink"
          act={async () => {
            const released = await release(path, version)
            await onReleased?.(released)
            await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })))
          }}
          onDone={() => {
            setReleased(true)
            showMessage(t.managed.released(set))
            requestAnimationFrame(focusAfter)
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

/** The button that had the focus is gone: what it stood in gets it. */
function focusAfter(): void {
  const place = document.querySelector<HTMLElement>('.dlg input') ?? document.getElementById('main')
  place?.focus({ preventScroll: true })
}
