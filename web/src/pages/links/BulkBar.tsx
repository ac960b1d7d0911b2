import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { BulkAct } from '../../api/bulk-links.ts'
import { isFiltered, type LinkFilter } from '../../api/link-filter.ts'
import { findLinkIds, LINK_LISTS_KEY, type LinkList } from '../../api/links.ts'
import { Icon, type IconNode } from '../../icons/Icon.tsx'
import {
  ArchiveIcon,
  CloseIcon,
  DomainIcon,
  ExpiryIcon,
  TagIcon,
  TrashIcon,
  UnarchiveIcon,
} from '../../icons/index.ts'
import { ConfirmDialog } from '../../shell/ConfirmDialog.tsx'
import { DomainSelect } from '../../shell/DomainSelect.tsx'
import { TagInput } from '../../shell/TagInput.tsx'
import { problemText, useChange } from '../../shell/use-faults.ts'
import { useObservable } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Chip } from '../../widgets/Chip.tsx'
import { Dialog, FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { ExpiryChips } from '../link-form/ExpiryChips.tsx'
import { useArchiving } from './archived-links.ts'
import { bulkFailures, bulkRun, isLong, useBulkActs } from './bulk-acts.ts'
import { clearSelection, select, useSelection } from './row-state.ts'

type BulkBarProps = {
  readonly filter: LinkFilter
  /** How many links match the filter. */
  readonly total: number
}

/** What can be done with the selected links of all pages. */
export function BulkBar({ filter, total }: BulkBarProps) {
  const t = useText()
  const selected = useSelection()
  const acts = useBulkActs()
  const { archiveMany } = useArchiving()
  const isOfArchived = filter.archived === 'true'
  const [change, setChange] = useState<BulkChange>()
  /** To delete, once that is confirmed. */
  const [doomed, setDoomed] = useState<readonly string[]>()
  function remove() {
    const ids = [...selected]
    if (isLong(ids.length)) setDoomed(ids)
    else acts.remove(ids)
  }
  return (
    <>
      {selected.size > 0 && (
        <div className="bulk" role="toolbar" aria-label={t.links.selectedLinks}>
          <span className="first" role="status">
            {t.links.selected(selected.size)}
          </span>
          {selected.size < total && <SelectAllButton filter={filter} total={total} />}
          <span className="sep" />
          <Act icon={TagIcon} name={t.links.bulkTag} onClick={() => setChange('tag')} />
          <Act icon={DomainIcon} name={t.links.bulkMove} onClick={() => setChange('move')} />
          <Act icon={ExpiryIcon} name={t.links.bulkExpire} onClick={() => setChange('expire')} />
          <Act
            icon={isOfArchived ? UnarchiveIcon : ArchiveIcon}
            name={isOfArchived ? t.links.unarchive : t.links.archive}
            onClick={() =>
              void archiveMany([...selected], !isOfArchived, {
                leavesList: filter.archived !== 'any',
              })
            }
          />
          <Act icon={TrashIcon} name={t.common.delete} isDangerous onClick={remove} />
          <button type="button" aria-label={t.links.clearSelection} onClick={clearSelection}>
            <Icon of={CloseIcon} />
          </button>
        </div>
      )}
      {change !== undefined && (
        <BulkDialog change={change} ids={[...selected]} onClose={() => setChange(undefined)} />
      )}
      {doomed !== undefined && (
        <ConfirmDialog
          title={t.links.bulkDeleteTitle(doomed.length)}
          text={t.links.bulkDeleteText}
          verb={t.common.delete}
          name={String(doomed.length)}
          act={async () => {}}
          onDone={() => {
            setDoomed(undefined)
            void acts.removeNow(doomed)
          }}
          onClose={() => setDoomed(undefined)}
        />
      )}
      <BulkProgressDialog />
      <BulkFailureDialog />
    </>
  )
}

/** Selects what matches on all pages. */
function SelectAllButton({ filter, total }: BulkBarProps) {
  const t = useText()
  const { mutate, isPending } = useChange(() => findLinkIds(filter), { keys: [] })
  return (
    <button
      type="button"
      className="all"
      disabled={isPending}
      onClick={() => mutate(undefined, { onSuccess: (ids) => select(ids, true) })}
    >
      {isFiltered(filter) ? t.links.selectMatching(total) : t.links.selectAll(total)}
    </button>
  )
}

type ActProps = {
  readonly icon: IconNode
  readonly name: string
  readonly isDangerous?: boolean
  readonly onClick: () => void
}

/** On phones only the icon is shown. */
function Act({ icon, name, isDangerous = false, onClick }: ActProps) {
  return (
    <button type="button" className={isDangerous ? 'danger' : ''} onClick={onClick}>
      <Icon of={icon} />
      <span className="t">{name}</span>
    </button>
  )
}

type BulkChange = 'tag' | 'move' | 'expire'

type BulkDialogProps = {
  readonly change: BulkChange
  readonly ids: readonly string[]
  readonly onClose: () => void
}

/** Asks for the tags that all selected links get and lose, or for their domain or expiry. */
function BulkDialog({ change, ids, onClose }: BulkDialogProps) {
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
    <FormDialog
      isFirm={false}
      onClose={onClose}
      onSubmit={submit}
      title={titles[change](ids.length)}
      verb={names[change]}
      isBusy={isBusy}
      // A tag that is still being typed is not known here.
      isIncomplete={change !== 'tag' && value === ''}
    >
      {change === 'tag' && (
        <>
          <Field label={t.links.bulkAddTags} hint={t.links.bulkTagHint}>
            {(control) => <TagInput control={control} tags={added} onChange={setAdded} />}
          </Field>
          <Field label={t.links.bulkRemoveTags}>
            {(control) => <TagInput control={control} tags={removed} onChange={setRemoved} />}
          </Field>
        </>
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
    </FormDialog>
  )
}

type Changes = Extract<BulkAct, { action: 'update' }>['changes']

function changesOf(change: 'move' | 'expire', value: string): Changes {
  if (change === 'move') return { domain: value }
  return { expires_at: value === NEVER ? null : new Date(value).toISOString() }
}

/** The value for links that never expire. */
const NEVER = 'never'

type BulkExpiryProps = {
  /** As a `datetime-local` input has it; empty while nothing is chosen. */
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A day of the calendar, a span from now, or no expiry. */
function BulkExpiry({ value, onChange }: BulkExpiryProps) {
  const t = useText()
  return (
    <div className="grid gap-3">
      <Field label={t.linkForm.expires}>
        {(control) => (
          <Input
            {...control}
            type="datetime-local"
            value={value === NEVER ? '' : value}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      <div className="flex gap-1.5 flex-wrap">
        <ExpiryChips onChoose={onChange} />
        <Chip aria-pressed={value === NEVER} onClick={() => onChange(value === NEVER ? '' : NEVER)}>
          {t.linkForm.noExpiry}
        </Chip>
      </div>
    </div>
  )
}

/** How far a bulk act of several requests is. Only Stop closes it. */
function BulkProgressDialog() {
  const t = useText()
  const run = useObservable(bulkRun)
  if (run === undefined) return null
  const { done, total, stop, isStopping } = run
  const text = t.links.bulkProgress(done, total)
  return (
    <Dialog
      isFirm
      onClose={() => {}}
      title={text}
      description={t.links.bulkProgressHint}
      footer={
        <Button onClick={stop} isBusy={isStopping}>
          {t.links.stop}
        </Button>
      }
    >
      <progress value={done} max={total} aria-label={text} />
    </Dialog>
  )
}

const SHOWN_MAX = 100

/** Names each link with which a bulk act failed, and why; and how many it did not come to. */
function BulkFailureDialog() {
  const t = useText()
  const failures = useObservable(bulkFailures)
  const nameOf = useListedNames()
  if (failures === undefined) return null
  const close = () => bulkFailures.set(undefined)
  const { failed, total, untouched, reason } = failures
  const isCut = untouched > 0
  return (
    <Dialog
      onClose={close}
      title={
        isCut
          ? t.links.bulkEnded(total - untouched - failed.length, total)
          : t.links.bulkFailed(failed.length, total)
      }
      description={
        <>
          {reason} {isCut ? t.links.bulkEndedHint(untouched) : t.links.bulkFailedHint}
        </>
      }
    >
      {failed.length > 0 && (
        <ul className="quiet scroll">
          {failed.slice(0, SHOWN_MAX).map(({ id, link, error }, nth) => (
            <li key={id ?? nth}>
              <span className="cut">{link ?? nameOf(id) ?? id}</span>
              <span>{error && problemText(error, t)}</span>
            </li>
          ))}
          {failed.length > SHOWN_MAX && <li>{t.links.bulkMore(failed.length - SHOWN_MAX)}</li>}
        </ul>
      )}
    </Dialog>
  )
}

/** Returns the name of a link by its id; undefined for one that no list has shown. */
function useListedNames(): (id: string | null) => string | undefined {
  const client = useQueryClient()
  return (id) => {
    const lists = client.getQueriesData<LinkList>({ queryKey: LINK_LISTS_KEY })
    const link = lists.flatMap(([, list]) => list?.data ?? []).find((one) => one.id === id)
    return link && `${link.domain}/${link.key}`
  }
}
