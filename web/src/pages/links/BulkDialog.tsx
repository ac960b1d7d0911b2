import { useState } from 'react'
import type { BulkAct } from '../../api/bulk-links.ts'
import { DomainSelect } from '../../shell/DomainSelect.tsx'
import { useServiceHost } from '../../shell/use-service-host.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { BulkExpiry, NEVER } from './BulkExpiry.tsx'
import { isLong } from './bulk-run.ts'
import { useBulkActs } from './use-bulk-acts.ts'

export type BulkChange = 'tag' | 'move' | 'expire'

type BulkDialogProps = {
  readonly change: BulkChange
  readonly ids: readonly string[]
  readonly onClose: () => void
}

/** Asks for the tags that all selected links get and lose, or for their domain or expiry. */
export function BulkDialog({ change, ids, onClose }: BulkDialogProps) {
  const t = useText()
  const acts = useBulkActs()
  const ownHost = useServiceHost()
  const [value, setValue] = useState(change === 'move' ? ownHost : '')
  /** Tags to take away. */
  const [removed, setRemoved] = useState('')
  const [isBusy, setBusy] = useState(false)
  const isEmpty = value === '' && removed === ''
  const titles = {
    tag: t.links.bulkTagTitle,
    move: t.links.bulkMoveTitle,
    expire: t.links.bulkExpireTitle,
  }
  const names = { tag: t.links.bulkTag, move: t.links.bulkMove, expire: t.links.bulkExpire }

  async function submit() {
    if (isEmpty || isBusy) return
    setBusy(true)
    const changed = acts.change(ids, changesOf(change, value, removed))
    if (!isLong(ids.length)) await changed
    onClose()
  }

  return (
    <Dialog
      isOpen
      onClose={onClose}
      onSubmit={submit}
      title={titles[change](ids.length)}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="ink" isBusy={isBusy} disabled={isEmpty}>
            {names[change]}
          </Button>
        </>
      }
    >
      {change === 'tag' && (
        <div className="grid gap-4">
          <Field label={t.links.bulkAddTags} hint={t.links.bulkTagHint}>
            {(control) => (
              <Input
                {...control}
                value={value}
                onChange={(event) => setValue(event.target.value)}
              />
            )}
          </Field>
          <Field label={t.links.bulkRemoveTags}>
            {(control) => (
              <Input
                {...control}
                value={removed}
                onChange={(event) => setRemoved(event.target.value)}
              />
            )}
          </Field>
        </div>
      )}
      {change === 'move' && (
        <Field label={t.linkForm.domain} hint={t.links.bulkMoveHint}>
          {(control) => <DomainSelect {...control} value={value} onChange={setValue} />}
        </Field>
      )}
      {change === 'expire' && <BulkExpiry value={value} onChange={setValue} />}
    </Dialog>
  )
}

type Changes = Extract<BulkAct, { action: 'update' }>['changes']

function changesOf(change: BulkChange, value: string, removed: string): Changes {
  if (change === 'move') return { domain: value }
  if (change === 'expire') {
    return { expires_at: value === NEVER ? null : new Date(value).toISOString() }
  }
  return { add_tags: tagsOf(value), remove_tags: tagsOf(removed) }
}

function tagsOf(text: string): readonly string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return tags.filter((tag) => tag !== '')
}
