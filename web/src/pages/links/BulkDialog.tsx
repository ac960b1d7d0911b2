import { useState } from 'react'
import type { BulkAct } from '../../api/bulk-links.ts'
import { DomainSelect } from '../../shell/DomainSelect.tsx'
import { TagInput } from '../../shell/TagInput.tsx'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Field } from '../../widgets/Field.tsx'
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
  const [value, setValue] = useState('')
  const [added, setAdded] = useState<readonly string[]>([])
  const [removed, setRemoved] = useState<readonly string[]>([])
  const [isBusy, setBusy] = useState(false)
  const titles = {
    tag: t.links.bulkTagTitle,
    move: t.links.bulkMoveTitle,
    expire: t.links.bulkExpireTitle,
  }
  const names = { tag: t.links.bulkTag, move: t.links.bulkMove, expire: t.links.bulkExpire }

  async function submit() {
    if (isBusy || [...value, ...added, ...removed].length === 0) return
    setBusy(true)
    const edits = { add_tags: added, remove_tags: removed }
    const changed = acts.change(ids, change === 'tag' ? edits : changesOf(change, value))
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
          <Button
            type="submit"
            look="ink"
            isBusy={isBusy}
            // A tag that is still being typed is not known here.
            disabled={change !== 'tag' && value === ''}
          >
            {names[change]}
          </Button>
        </>
      }
    >
      {change === 'tag' && (
        <div className="grid gap-4">
          <Field label={t.links.bulkAddTags} hint={t.links.bulkTagHint}>
            {(control) => <TagInput control={control} tags={added} onChange={setAdded} />}
          </Field>
          <Field label={t.links.bulkRemoveTags}>
            {(control) => <TagInput control={control} tags={removed} onChange={setRemoved} />}
          </Field>
        </div>
      )}
      {change === 'move' && (
        <Field label={t.linkForm.domain} hint={t.links.bulkMoveHint}>
          {(control) => (
            <DomainSelect
              {...control}
              value={value}
              onChange={setValue}
              placeholder={t.links.chooseDomain}
            />
          )}
        </Field>
      )}
      {change === 'expire' && <BulkExpiry value={value} onChange={setValue} />}
    </Dialog>
  )
}

type Changes = Extract<BulkAct, { action: 'update' }>['changes']

function changesOf(change: 'move' | 'expire', value: string): Changes {
  if (change === 'move') return { domain: value }
  return { expires_at: value === NEVER ? null : new Date(value).toISOString() }
}
