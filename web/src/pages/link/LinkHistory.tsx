import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type LinkChange, linkHistoryQuery, revertLink } from '../../api/link-history.ts'
import { type DetailedLink, LINKS_KEY } from '../../api/links.ts'
import { Icon } from '../../icons/Icon.tsx'
import { ChevronRightIcon } from '../../icons/index.ts'
import { ConfirmDialog } from '../../shell/ConfirmDialog.tsx'
import { EventDifferences } from '../../shell/EventDifferences.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Avatar } from '../../widgets/Avatar.tsx'
import { Button } from '../../widgets/Button.tsx'
import { Ago, useNow } from '../../widgets/Time.tsx'
import { type Restored, restoredBy, revertedFields, sentencesOf } from './change-sentences.ts'

/** A change that is about to be undone, or returned to. */
type Revert = {
  readonly kind: 'undo' | 'return'
  readonly change: LinkChange
  readonly restored: Restored
}

/** Who changed what of a link, the newest first, with Undo; folded to one line. */
export function LinkHistory({ link }: { link: DetailedLink }) {
  const t = useText()
  const { may } = useMembership()
  const answer = useInfiniteQuery(linkHistoryQuery(link.id))
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = answer
  const [revert, setRevert] = useState<Revert>()
  if (data === undefined) return null
  const changes = data.pages.flatMap((page) => page.data)
  return (
    <details className="activity">
      <summary>
        <Icon of={ChevronRightIcon} />
        <h2 className="sec-h">{t.link.activity}</h2>
        <span className="sum">
          <Summary changes={changes} hasMore={hasNextPage} />
        </span>
      </summary>
      <ol className="log">
        {changes.map((change, nth) => (
          <Change key={change.sequence} change={change}>
            {may('member') && (
              <ChangeActs newer={changes.slice(0, nth)} change={change} onChoose={setRevert} />
            )}
          </Change>
        ))}
      </ol>
      {hasNextPage && (
        <Button size="small" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t.audit.more}
        </Button>
      )}
      {revert !== undefined && (
        <RevertDialog link={link} revert={revert} onClose={() => setRevert(undefined)} />
      )}
    </details>
  )
}

type SummaryProps = { readonly changes: readonly LinkChange[]; readonly hasMore: boolean }

function Summary({ changes, hasMore }: SummaryProps) {
  const t = useText()
  const formats = useFormats()
  const now = useNow()
  const [last] = changes
  if (last === undefined) return t.link.noActivity
  const when = formats.ago(new Date(last.at), now)
  const count = hasMore ? t.link.changesAtLeast(changes.length) : t.link.changeCount(changes.length)
  return t.link.lastChange(count, last.actor.name, when)
}

type ChangeProps = { readonly change: LinkChange; readonly children: React.ReactNode }

function Change({ change, children }: ChangeProps) {
  const t = useText()
  const formats = useFormats()
  const { name } = change.actor
  return (
    <li>
      <Ago instant={new Date(change.at)} />
      <Avatar name={name} />
      <div className="told">
        <div>
          {sentencesOf(change, t, formats).map((parts, nth) => (
            // The sentences of a change never change their order.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <p key={nth}>
              <b>{name}</b>{' '}
              {parts.map(({ text, isValue }) => (isValue ? <b key={text}>{text}</b> : text))}
            </p>
          ))}
        </div>
        {children}
      </div>
    </li>
  )
}

type ChangeActsProps = {
  readonly change: LinkChange
  /** The changes after it, newest first. */
  readonly newer: readonly LinkChange[]
  readonly onChoose: (revert: Revert) => void
}

function ChangeActs({ change, newer, onChoose }: ChangeActsProps) {
  const t = useText()
  const undone = restoredBy([change])
  const returned = restoredBy(newer)
  const isEmpty = ({ values }: Restored) => Object.keys(values).length === 0
  return (
    <span className="acts">
      {!isEmpty(undone) && change.before !== null && (
        <Button
          size="small"
          look="bare"
          onClick={() => onChoose({ kind: 'undo', change, restored: undone })}
        >
          {t.link.history.undo}
        </Button>
      )}
      {!isEmpty(returned) && (
        <Button
          size="small"
          look="bare"
          onClick={() => onChoose({ kind: 'return', change, restored: returned })}
        >
          {t.link.history.return}
        </Button>
      )}
    </span>
  )
}

type RevertDialogProps = {
  readonly link: DetailedLink
  readonly revert: Revert
  readonly onClose: () => void
}

/** Shows what the fields have now and get back. */
function RevertDialog({ link, revert, onClose }: RevertDialogProps) {
  const t = useText()
  const formats = useFormats()
  const { kind, change, restored } = revert
  const { history } = t.link
  const current: Readonly<Record<string, unknown>> = { ...link, ...link.options }
  const names = Object.keys(restored.values)
  const kept = restored.kept.map((field) => history.nouns[field] ?? field)
  const now = Object.fromEntries(names.map((name) => [name, current[name]]))
  const key = kind === 'undo' ? 'sequence' : 'to'
  return (
    <ConfirmDialog
      title={kind === 'undo' ? history.undoTitle : history.returnTitle}
      text={
        kept.length === 0 ? history.hint : `${history.hint} ${history.kept(formats.list(kept))}`
      }
      verb={kind === 'undo' ? history.undo : history.return}
      look="ink"
      act={() => revertLink(link.id, { [key]: change.sequence, fields: revertedFields(restored) })}
      keys={[LINKS_KEY]}
      message={kind === 'undo' ? history.undone : history.returned}
      onClose={onClose}
    >
      <EventDifferences event={{ type: 'link.updated', before: now, after: restored.values }} />
    </ConfirmDialog>
  )
}
