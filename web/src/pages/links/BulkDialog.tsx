import { useState } from 'react'
import type { LinkFields } from '../../api/links.ts'
import { DomainSelect } from '../../shell/DomainSelect.tsx'
import { useServiceHost } from '../../shell/use-service-host.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { isLong } from './bulk-run.ts'
import { useBulkActs } from './use-bulk-acts.ts'

export type BulkChange = 'tag' | 'move' | 'expire'

type BulkDialogProps = {
  readonly change: BulkChange
  readonly ids: readonly string[]
  readonly onClose: () => void
}

/** Asks for the tags, the domain or the instant that all selected links get. */
export function BulkDialog({ change, ids, onClose }: BulkDialogProps) {
  const t = useText()
  const acts = useBulkActs()
  const ownHost = useServiceHost()
  const [value, setValue] = useState(change === 'move' ? ownHost : '')
  const [isBusy, setBusy] = useState(false)
  const titles = {
    tag: t.links.bulkTagTitle,
    move: t.links.bulkMoveTitle,
    expire: t.links.bulkExpireTitle,
  }
  const names = { tag: t.links.bulkTag, move: t.links.bulkMove, expire: t.links.bulkExpire }

  async function submit() {
    if (value === '' || isBusy) return
    setBusy(true)
    const changed = acts.change(ids, changesOf(change, value))
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
          <Button type="submit" look="ink" isBusy={isBusy} disabled={value === ''}>
            {names[change]}
          </Button>
        </>
      }
    >
      {change === 'tag' && (
        <Field label={t.linkForm.tags} hint={t.links.bulkTagHint}>
          {(control) => (
            <Input {...control} value={value} onChange={(event) => setValue(event.target.value)} />
          )}
        </Field>
      )}
      {change === 'move' && (
        <Field label={t.linkForm.domain} hint={t.links.bulkMoveHint}>
          {(control) => <DomainSelect {...control} value={value} onChange={setValue} />}
        </Field>
      )}
      {change === 'expire' && (
        <Field label={t.linkForm.expires}>
          {(control) => (
            <Input
              {...control}
              type="datetime-local"
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          )}
        </Field>
      )}
    </Dialog>
  )
}

function changesOf(
  change: BulkChange,
  value: string,
): LinkFields & { readonly add_tags?: readonly string[] } {
  if (change === 'move') return { domain: value }
  if (change === 'expire') return { expires_at: new Date(value).toISOString() }
  const tags = value.split(',').map((tag) => tag.trim())
  return { add_tags: tags.filter((tag) => tag !== '') }
}
