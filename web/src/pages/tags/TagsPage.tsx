import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { type Tag, type TagSort, tagClicksQuery, tagPageQuery } from '../../api/tags.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CloseIcon, EditIcon, SortIcon, TrashIcon } from '../../icons/index.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { Page } from '../../shell/Page.tsx'
import { Pager } from '../../shell/Pager.tsx'
import { SearchField } from '../../shell/SearchField.tsx'
import { useMembership } from '../../shell/use-membership.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { AfterAMoment, Skeleton } from '../../widgets/Loading.tsx'
import { DeleteTagsDialog } from './DeleteTagsDialog.tsx'
import { RenameTagsDialog } from './RenameTagsDialog.tsx'
import { TagRow } from './TagRow.tsx'
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
        label={t.tags.search}
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
