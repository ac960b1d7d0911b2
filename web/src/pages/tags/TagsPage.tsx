import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { LINKS_KEY } from '../../api/links.ts'
import {
  deleteTags,
  renameTags,
  type Tag,
  type TagSort,
  tagClicksQuery,
  tagPageQuery,
  tagUseQuery,
} from '../../api/tags.ts'
import { Icon } from '../../icons/Icon.tsx'
import {
  AnalyticsIcon,
  CloseIcon,
  EditIcon,
  LinkIcon,
  MoreIcon,
  SortIcon,
  TrashIcon,
} from '../../icons/index.ts'
import { ConfirmDialog } from '../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page } from '../../shell/Page.tsx'
import { Pager } from '../../shell/Pager.tsx'
import { SearchField } from '../../shell/SearchField.tsx'
import { useFaults } from '../../shell/use-faults.ts'
import { useMembership } from '../../shell/use-membership.ts'
import { useSettled } from '../../state/observable.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { AfterAMoment, Skeleton } from '../../widgets/Loading.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import { tip } from '../../widgets/Tips.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'
import { TagsTabs } from './TagsTabs.tsx'

/** The API changes at most so many tags in one request. */
const TAGS_MAX = 10

const route = getRouteApi('/shell/tags')

type Act = { readonly kind: 'rename' | 'delete'; readonly tags: readonly Tag[] }

/** The tags of the workspace with how many links carry each; rename, merge, delete. */
export default function TagsPage() {
  const t = useText()
  const { may } = useMembership()
  const { search, sort = 'name', page = 1 } = route.useSearch()
  const { data, error } = useQuery(tagPageQuery(search, sort, page))
  const counted = useTagClicks()
  const [selected, setSelected] = useState<readonly Tag[]>([])
  const [act, setAct] = useState<Act>()
  const mayWrite = may('member')

  function end() {
    setAct(undefined)
    setSelected([])
  }

  const toggle = (tag: Tag, isSelected: boolean) =>
    setSelected((before) => [
      ...before.filter(({ name }) => name !== tag.name),
      ...(isSelected ? [tag] : []),
    ])
  return (
    <Page title={t.tags.title} isFlush>
      <Tools search={search} sort={sort} />
      {data === undefined && error === null && (
        <AfterAMoment>
          <div className="p-6" aria-busy>
            <Skeleton width={240} />
          </div>
        </AfterAMoment>
      )}
      {data === undefined && error !== null && <LoadFailure error={error} />}
      {data?.meta.total === 0 && <NoTags search={search} />}
      {data !== undefined && data.meta.total > 0 && (
        <>
          <ul className="list grow border-t-0" aria-label={t.tags.caption}>
            {data.data.map((tag) => (
              <TagRow
                key={tag.name}
                tag={tag}
                clicks={counted.clicksOf(tag.name)}
                isSelected={selected.some(({ name }) => name === tag.name)}
                onSelect={mayWrite ? (isSelected) => toggle(tag, isSelected) : undefined}
                onRename={() => setAct({ kind: 'rename', tags: [tag] })}
                onDelete={() => setAct({ kind: 'delete', tags: [tag] })}
              />
            ))}
          </ul>
          {counted.isRefused && <p className="hint px-6 py-3">{t.tags.clicksUnknown}</p>}
          <Pager meta={data.meta} page={page} />
        </>
      )}
      {selected.length > 0 && (
        <SelectedTags
          amount={selected.length}
          onRename={() => setAct({ kind: 'rename', tags: selected })}
          onDelete={() => setAct({ kind: 'delete', tags: selected })}
          onClear={() => setSelected([])}
        />
      )}
      {act?.kind === 'rename' && (
        <RenameTagsDialog tags={act.tags} onDone={end} onClose={() => setAct(undefined)} />
      )}
      {act?.kind === 'delete' && (
        <DeleteTagsDialog tags={act.tags} onDone={end} onClose={() => setAct(undefined)} />
      )}
    </Page>
  )
}

/** Clicks of tags in the last 30 days. They come after the tags, and may be too many to count. */
function useTagClicks() {
  const { data, error } = useQuery(tagClicksQuery())
  const byTag = new Map(data?.data.map(({ value, clicks = 0 }) => [value, clicks]))
  return {
    isRefused: error instanceof ApiError && error.status === 422,
    /** Undefined where it is not known. */
    clicksOf(tag: string): number | undefined {
      // All tags with clicks are in the answer, unless it has a rest.
      return byTag.get(tag) ?? (data?.rest.values === 0 ? 0 : undefined)
    },
  }
}

function Tools({ search, sort }: { search: string | undefined; sort: TagSort }) {
  const t = useText()
  const navigate = route.useNavigate()
  const isByLinks = sort === '-links'
  return (
    <div className="tools">
      <TagsTabs />
      <SearchField
        className="tool-search"
        aria-label={t.tags.search}
        placeholder={t.tags.search}
        value={search ?? ''}
        onChange={(next) =>
          void navigate({
            search: (before) => ({ ...before, search: next, page: undefined }),
            replace: true,
          })
        }
      />
      <div className="end">
        <Button
          size="small"
          look="bare"
          icon={SortIcon}
          onClick={() =>
            void navigate({
              search: (before) => ({
                ...before,
                sort: isByLinks ? undefined : '-links',
                page: undefined,
              }),
            })
          }
        >
          {isByLinks ? t.tags.links : t.tags.name}
        </Button>
      </div>
    </div>
  )
}

function NoTags({ search }: { search: string | undefined }) {
  const t = useText()
  return (
    <div className="empty">
      <div>
        <div className="grid gap-1">
          <h2>{search === undefined ? t.tags.emptyTitle : t.tags.noMatch(search)}</h2>
          {search === undefined && <p className="muted">{t.tags.emptyHint}</p>}
        </div>
      </div>
    </div>
  )
}

type SelectedTagsProps = {
  readonly amount: number
  readonly onRename: () => void
  readonly onDelete: () => void
  readonly onClear: () => void
}

function SelectedTags({ amount, onRename, onDelete, onClear }: SelectedTagsProps) {
  const t = useText()
  const isTooMany = amount > TAGS_MAX
  return (
    <div className="bulk" role="toolbar" aria-label={t.tags.selectedTags}>
      <span className="first" role="status">
        {isTooMany ? t.tags.selectAtMost(TAGS_MAX) : t.tags.selected(amount)}
      </span>
      <span className="sep" />
      <button type="button" disabled={isTooMany} onClick={onRename}>
        <Icon of={EditIcon} />
        <span className="t">{amount > 1 ? t.tags.merge : t.tags.rename}</span>
      </button>
      <button type="button" className="danger" disabled={isTooMany} onClick={onDelete}>
        <Icon of={TrashIcon} />
        <span className="t">{t.common.delete}</span>
      </button>
      <button type="button" aria-label={t.links.clearSelection} onClick={onClear}>
        <Icon of={CloseIcon} />
      </button>
    </div>
  )
}

type TagRowProps = {
  readonly tag: Tag
  /** In the last 30 days; undefined where it is not known. */
  readonly clicks: number | undefined
  readonly isSelected: boolean
  /** Undefined for those who may not change links. */
  readonly onSelect: ((isSelected: boolean) => void) | undefined
  readonly onRename: () => void
  readonly onDelete: () => void
}

function TagRow({ tag, clicks, isSelected, onSelect, onRename, onDelete }: TagRowProps) {
  const t = useText()
  const { name, links } = tag
  const toClicks = <Link to="/analytics" search={{ tag: [name] }} />
  const toLinks = <Link to="/links" search={{ tag: [name] }} />
  const trigger = (
    <button className="ib" type="button" aria-label={t.tags.actionsFor(name)}>
      <Icon of={MoreIcon} />
    </button>
  )
  return (
    <li className={isSelected ? 'tag-row is-sel' : 'tag-row'}>
      {onSelect !== undefined && (
        <input
          className="cb"
          type="checkbox"
          aria-label={t.tags.select(name)}
          checked={isSelected}
          onChange={(event) => onSelect(event.target.checked)}
        />
      )}
      <span className="grow min-w-0">
        <Link className="tag" to="/links" search={{ tag: [name] }} title={name}>
          {name}
        </Link>
      </span>
      <span className="num muted">{t.common.links(links)}</span>
      <span className="num tag-clicks">
        {clicks !== undefined && (
          <Link
            to="/analytics"
            search={{ tag: [name] }}
            aria-label={`${name}: ${t.tags.clicksOfMonth(clicks)}`}
            {...tip(t.tags.clicksOfMonth(clicks))}
          >
            {t.tags.clicks(clicks)}
          </Link>
        )}
      </span>
      <Menu trigger={trigger}>
        <MenuItem icon={LinkIcon} render={toLinks}>
          {t.tags.showLinks}
        </MenuItem>
        <MenuItem icon={AnalyticsIcon} render={toClicks}>
          {t.tags.showClicks}
        </MenuItem>
        {onSelect !== undefined && (
          <>
            <MenuItem icon={EditIcon} onSelect={onRename}>
              {t.tags.rename}
            </MenuItem>
            <MenuSeparator />
            <MenuItem icon={TrashIcon} isDangerous onSelect={onDelete}>
              {t.common.delete}
            </MenuItem>
          </>
        )}
      </Menu>
    </li>
  )
}

type RenameTagsDialogProps = {
  /** Several become one. */
  readonly tags: readonly Tag[]
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Asks for the new name, and says when that joins the tag with another one. */
function RenameTagsDialog({ tags, onDone, onClose }: RenameTagsDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const names = tags.map(({ name }) => name)
  const isMerge = tags.length > 1
  // Most links carry the name that is kept by default.
  const most = tags.toSorted((one, other) => other.links - one.links)[0]?.name ?? ''
  const [typed, setTyped] = useState(most)
  const name = typed.trim()
  const isSame = !isMerge && name === names[0]
  const settled = useSettled(name)
  const { data: isUsed = false } = useQuery({
    ...tagUseQuery(settled),
    enabled: settled !== '' && !names.includes(settled),
  })
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => renameTags(names, name),
    async onSuccess(changed) {
      await client.invalidateQueries({ queryKey: LINKS_KEY })
      showMessage(t.tags.changed(changed))
      onDone()
    },
  })
  const faults = useFaults(error, ['name'])
  const willMerge = isUsed && settled === name && !names.includes(name)
  return (
    <FormDialog
      onClose={onClose}
      onSubmit={() => mutate()}
      title={isMerge ? t.tags.mergeTitle(tags.length) : t.tags.renameTitle(names[0] ?? '')}
      description={isMerge ? names.join(', ') : undefined}
      verb={isMerge || willMerge ? t.tags.merge : t.tags.rename}
      isBusy={isPending}
      isIncomplete={name === '' || isSame}
    >
      <Field
        label={isMerge ? t.tags.mergeName : t.tags.newName}
        hint={willMerge ? t.tags.willMerge(name) : undefined}
        errors={faults.withGeneral('name')}
      >
        {(control) => (
          <Input {...control} value={typed} onChange={(event) => setTyped(event.target.value)} />
        )}
      </Field>
    </FormDialog>
  )
}

type DeleteTagsDialogProps = {
  readonly tags: readonly Tag[]
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Which links carried a tag is not known afterwards, so Undo could not bring it back. */
function DeleteTagsDialog({ tags, onDone, onClose }: DeleteTagsDialogProps) {
  const t = useText()
  const [first] = tags
  const isOne = tags.length === 1 && first !== undefined
  return (
    <ConfirmDialog
      title={isOne ? t.tags.deleteTitle(first.name) : t.tags.deleteManyTitle(tags.length)}
      text={isOne ? t.tags.deleteText(first.links) : t.tags.deleteTextMany}
      verb={t.common.delete}
      act={async () => {
        const changed = await deleteTags(tags.map(({ name }) => name))
        showMessage(t.tags.changed(changed), { icon: TrashIcon })
      }}
      keys={[LINKS_KEY]}
      onDone={onDone}
      onClose={onClose}
    />
  )
}
